import org.mustangproject.validator.ZUGFeRDValidator;

/** Has Mustang check electronic invoices; the exit status is 1 if one is not valid. */
class Check {
  public static void main(String[] files) {
    boolean isValid = true;
    for (String file : files) {
      ZUGFeRDValidator validator = new ZUGFeRDValidator();
      System.out.println(validator.validate(file));
      isValid &= validator.wasCompletelyValid();
    }
    System.exit(isValid ? 0 : 1);
  }
}
