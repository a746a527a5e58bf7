/** What a setting may be. */
enum Kind {
    TEXT, NUMBER, SWITCH;

    boolean allows(String value) {
        switch (this) {
            case NUMBER:
                for (int i = 0; i < value.length(); i++) {
                    if (!Character.isDigit(value.charAt(i))) {
                        return false;
                    }
                }
                return !value.isEmpty();
            case SWITCH:
                return value.equals("on") || value.equals("off");
            default:
                return !value.isEmpty();
        }
    }
}
