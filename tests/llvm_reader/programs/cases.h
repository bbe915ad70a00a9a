    case 1:
        return x > 0 ? 5 : 6;
    case 2:
        x++;
