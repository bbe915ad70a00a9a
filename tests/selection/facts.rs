//! A test for each scenario, so that each can be run by its name.

use std::collections::BTreeSet;

macro_rules! facts {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                crate::holds(stringify!($name));
            }
        )*
    };
}

facts! {
    a_build_file_reaches_every_test
    a_build_that_hides_its_paths_hides_no_source
    a_changed_constructor_reaches_who_executed_it
    a_changed_include_of_the_system_reaches_the_whole_file
    a_changed_signature_reaches_the_function_and_its_callers
    a_comment_in_a_header_that_another_language_includes_reaches_nobody
    a_copy_counts_beside_its_source
    a_copy_of_a_source_is_executed_like_the_source
    a_data_file_reaches_who_opened_it
    a_data_file_that_comes_may_be_looked_for_by_every_test
    a_deleted_source_reaches_who_executed_it
    a_failed_test_stays_selected
    a_file_that_is_not_in_the_build_reaches_nobody
    a_file_that_moves_and_changes_reaches_who_executes_the_change
    a_file_that_nobody_opens_reaches_nobody
    a_file_that_the_build_reads_reaches_every_test
    a_file_that_the_project_ignores_reaches_nobody
    a_function_behind_longjmp_is_executed
    a_function_that_is_called_through_a_pointer_is_executed
    a_function_that_is_gone_reaches_its_callers
    a_function_that_moves_to_another_file_is_another_function
    a_function_that_moves_within_its_file_reaches_nobody
    a_function_that_runs_at_exit_counts
    a_function_without_counters_may_be_executed_by_anybody
    a_goto_reaches_who_jumps
    a_header_behind_a_header_that_assembler_includes_reaches_every_test
    a_header_that_another_language_includes_reaches_every_test
    a_header_that_assembler_includes_reaches_every_test
    a_header_that_shadows_another_reaches_the_users_of_both
    a_header_that_shadows_one_of_the_system_reaches_its_includers
    a_header_that_the_build_makes_passes_names_on
    a_helper_of_some_tests_reaches_those_that_execute_it
    a_label_that_moves_reaches_who_jumps_to_it
    a_library_that_is_loaded_and_unloaded_counts
    a_library_without_counters_may_be_executed_by_anybody
    a_link_that_points_elsewhere_reaches_every_test
    a_list_of_macros_makes_functions
    a_macro_in_a_macro_reaches_the_uses_of_the_outer_one
    a_macro_in_an_if_directive_decides_what_is_compiled
    a_macro_in_an_if_directive_inside_a_function_counts_where_it_stands
    a_macro_made_string_reaches_its_users
    a_macro_reaches_who_gets_to_its_use
    a_macro_that_an_option_defines_passes_names_on
    a_macro_that_hides_a_return_is_followed
    a_macro_that_makes_functions_reaches_who_executes_them
    a_new_case_reaches_who_took_the_default
    a_new_constructor_reaches_every_test
    a_new_function_that_nobody_calls_reaches_nobody
    a_new_include_brings_names
    a_new_macro_takes_the_place_of_a_function
    a_new_test_is_found_by_a_build
    a_packed_struct_reaches_its_users
    a_pasted_name_reaches_what_it_builds
    a_pasted_variable_reaches_the_macro_that_builds_it
    a_pinned_test_is_always_selected
    a_pragma_reaches_what_follows_it
    a_program_that_another_program_starts_counts
    a_program_that_makes_sources_reaches_every_test
    a_program_with_an_empty_environment_is_not_forgotten
    a_prototype_alone_reaches_the_callers
    a_removed_case_reaches_who_took_it
    a_removed_include_takes_names
    a_renamed_file_reaches_nobody
    a_renamed_function_reaches_its_callers
    a_renamed_local_variable_is_a_change
    a_script_that_may_be_executed_now_reaches_every_test
    a_shared_library_counts_for_its_programs
    a_signal_handler_counts
    a_source_that_becomes_something_else_reaches_every_test
    a_source_that_is_compiled_through_a_link_is_the_same_source
    a_source_that_is_included_by_another_keeps_its_functions
    a_source_that_the_build_makes_uses_what_a_header_declares
    a_source_that_the_project_calls_global_reaches_every_test
    a_source_with_an_odd_name_is_a_source
    a_statement_expression_and_a_case_range_are_compared
    a_static_archive_is_part_of_its_programs
    a_static_function_that_hides_a_librarys_reaches_its_callers
    a_static_local_variable_reaches_its_function
    a_static_variable_reaches_only_its_file
    a_string_literal_is_part_of_its_statement
    a_stringified_argument_counts_as_it_is_written
    a_strong_function_takes_the_place_of_a_weak_one
    a_struct_behind_a_pointer_in_another_struct_reaches_its_users
    a_struct_member_reaches_who_mentions_the_struct
    a_submodule_reaches_every_test
    a_table_of_functions_reaches_who_calls_through_it
    a_table_that_the_build_makes_passes_names_on
    a_test_that_crashed_or_timed_out_stays_selected
    a_test_that_read_a_source_notices_that_it_moved
    a_test_that_reads_a_source_notices_its_comments
    a_text_that_is_included_as_data_reaches_its_readers
    a_type_in_a_signature_reaches_the_callers
    a_typedef_reaches_through_typedefs
    an_alias_reaches_through_to_its_target
    an_alias_that_goes_to_another_function_reaches_its_callers
    an_arm_of_a_choice_reaches_who_chooses_it
    an_arm_of_another_type_reaches_both
    an_attribute_on_a_function_reaches_the_function
    an_enumerator_at_the_end_reaches_nobody
    an_enumerator_reaches_its_uses_and_those_behind_it
    an_included_file_is_a_source_whatever_it_is_called
    an_initial_value_reaches_the_uses_of_the_variable
    an_inline_function_in_a_header_reaches_who_executes_it
    an_old_style_function_is_compared_like_any_other
    an_undefined_macro_reaches_its_uses
    another_command_for_tests_reaches_every_test
    assembler_reaches_every_test
    both_sides_of_a_comma_are_executed
    code_that_links_everything_at_once_counts
    code_that_no_compiler_reads_reaches_nobody
    code_under_an_inactive_condition_reaches_nobody
    comments_and_white_space_reach_nobody
    constant_data_reaches_its_readers
    headers_compiled_in_advance_and_assembly_by_hand_count
    of_two_static_functions_of_one_name_only_the_changed_one_counts
    one_source_compiled_twice_counts_twice
    optimised_code_counts_like_any_other
    reordered_cases_reach_nobody
    reordered_cases_that_fall_through_reach_who_falls
    reordered_includes_reach_what_both_define
    the_bound_of_a_loop_reaches_who_comes_to_it
    the_executable_bit_of_a_source_reaches_nobody
    the_second_operand_of_and_reaches_who_evaluates_it
    the_second_operand_of_or_reaches_who_evaluates_it
    the_size_of_a_changed_type_reaches_who_asks_for_it
    the_size_of_an_array_reaches_its_users
    the_source_of_a_test_reaches_only_that_test
    the_step_of_a_loop_reaches_who_goes_round
    the_type_of_a_local_variable_reaches_its_uses
    the_type_of_an_old_style_parameter_reaches_who_enters
    what_a_forked_child_executes_counts
    what_a_generator_does_not_execute_reaches_nobody
    what_a_killed_child_executed_counts
    what_a_library_does_at_exit_counts
    what_a_thread_executes_counts
    what_is_compiled_from_the_work_tree_itself_counts
    what_is_stripped_hides_nothing_without_counters
    what_line_directives_say_does_not_hide_a_function
}

#[test]
fn every_scenario_is_listed_here() {
    let files = std::fs::read_dir(crate::folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed = NAMES.iter().map(|name| format!("{name}.txt")).collect();
    assert_eq!(files, listed);
}
