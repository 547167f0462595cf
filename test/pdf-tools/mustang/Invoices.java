import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.Map;
import java.util.Set;
import org.mustangproject.BankDetails;
import org.mustangproject.Contact;
import org.mustangproject.Invoice;
import org.mustangproject.Item;
import org.mustangproject.Product;
import org.mustangproject.TradeParty;
import org.mustangproject.ZUGFeRD.Profiles;
import org.mustangproject.ZUGFeRD.ZUGFeRD2PullProvider;

/** Has Mustang make the XML of an electronic invoice in each profile, and writes it to a folder, named after the profile. */
class Invoices {
  private static final Map<String, String> PROFILES =
      Map.of(
          "MINIMUM", "Minimum",
          "BASIC WL", "BasicWL",
          "BASIC", "Basic",
          "EN 16931", "EN16931",
          "EXTENDED", "Extended",
          "XRECHNUNG", "XRechnung");

  /** The others have no contacts, no names of banks and no descriptions of products. */
  private static final Set<String> FULL = Set.of("EN 16931", "EXTENDED", "XRECHNUNG");

  public static void main(String[] folder) throws Exception {
    for (Map.Entry<String, String> profile : PROFILES.entrySet()) {
      ZUGFeRD2PullProvider maker = new ZUGFeRD2PullProvider();
      maker.setProfile(Profiles.getByName(profile.getValue()));
      maker.generateXML(invoice(profile.getKey()));
      String xml = new String(maker.getXML(), StandardCharsets.UTF_8);
      if (profile.getKey().equals("BASIC WL")) {
        // Mustang 2.16 leaves out the sum of the lines, without which its own check refuses the invoice.
        xml = xml.replace("<ram:TaxBasisTotal", "<ram:LineTotalAmount>50.00</ram:LineTotalAmount><ram:TaxBasisTotal");
      }
      Files.writeString(Path.of(folder[0], profile.getKey() + ".xml"), xml);
    }
  }

  private static Invoice invoice(String profile) {
    boolean isFull = FULL.contains(profile);
    TradeParty seller = party(profile, "Example Ltd", "10115", "Berlin");
    seller.addTaxID("201/113/40209").addVATID("DE123456789");
    if (isFull) {
      seller
          .setContact(new Contact("Ann Example", "+49 30 1234", "seller@example.com"))
          .addBankDetails(new BankDetails("DE02120300000000202051", "BYLADEM1001"));
    }
    TradeParty buyer = party(profile, "Buyer Ltd", "20095", "Hamburg").addVATID("DE987654321");
    Product product = new Product("Paper", isFull ? "White" : "", "C62", new BigDecimal(19));
    return new Invoice()
        .setNumber("4711")
        .setIssueDate(day(26))
        .setDueDate(day(28))
        .setDeliveryDate(profile.equals("MINIMUM") ? null : day(25))
        .setReferenceNumber("04011000-12345-34")
        .setSender(seller)
        .setRecipient(buyer)
        .addItem(new Item(product, new BigDecimal("12.50"), new BigDecimal(4)));
  }

  /** The smallest profile has the country of an address alone. */
  private static TradeParty party(String profile, String name, String postcode, String town) {
    return profile.equals("MINIMUM")
        ? new TradeParty(name, null, null, null, "DE")
        : new TradeParty(name, "1 Example Street", postcode, town, "DE")
            .setEmail("post@example.com");
  }

  private static Date day(int ofNovember) {
    LocalDate date = LocalDate.of(2026, 11, ofNovember);
    return Date.from(date.atStartOfDay(ZoneOffset.UTC).toInstant());
  }
}
