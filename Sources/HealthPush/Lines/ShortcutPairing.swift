import Foundation
import HealthModel

/// How a person builds a Shortcut that sends plain lines: what to tap in Apple's app, and codes that bring the address and
/// the token to the phone.
///
/// The camera offers to search the web for a code that holds plain text, which would hand the token to a search engine.
/// So the codes are links to Shortcuts (https://support.apple.com/guide/shortcuts/apd624386f42/ios): they run a Shortcut
/// of one action with the text as its input, and that copies it.
package struct ShortcutPairing: AppPairing {
    package static let name = "shortcut"

    private let url: String
    private let authorization: String

    package init(_ phone: PairedPhone) {
        url = phone.address + WayIn.lines.path
        authorization = "Bearer \(phone.token)"
    }

    package var value: Value { ["url": .string(url), "header": .string("Authorization: \(authorization)")] }

    /// The name of the Shortcut that the codes run.
    private static let copier = "healthbus code"

    /// A link that, opened on the iPhone, copies the text.
    static func link(copying text: String) -> String {
        "shortcuts://run-shortcut?name=\(escaped(copier))&input=text&text=\(escaped(text))"
    }

    private static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    package func text(code: (String) -> String?) -> String {
        let codes = [("the address", url), ("the header's value, with the token", authorization)].map { name, text in
            (name: name, text: text, drawn: code(Self.link(copying: text)))
        }
        let areDrawn = codes.allSatisfy { $0.drawn != nil }
        let texts = codes.map { name, text, drawn in
            areDrawn ? "   \(name):\n\n\(drawn ?? "")\n" : "   \(name)\n      \(text)\n"
        }
        let first =
            areDrawn
            ? """
            1. Make a shortcut named "\(Self.copier)" with one action: Copy to Clipboard, of Shortcut Input.
               Each of these codes then copies a text for step 3, when the camera sees it and you open it:


            """
            : "1. Bring these two texts to the iPhone, for step 3:\n\n"
        return "In the app Shortcuts on the iPhone:\n\n" + first + texts.joined(separator: "\n") + "\n" + Self.steps
    }

    private static let steps = """
        2. Make a shortcut named "healthbus". Add these actions, once for Steps, once for Heart Rate, once for Sleep:

           Find Health Samples   Type is Steps; Start Date is in the last 2 days; Group By None
           Repeat with Each      of Health Samples, and in it:
             Text                Steps;[Start Date];[End Date];[Value];[Unit];[Source]
           Combine Text          Repeat Results, with New Lines

           Each part in brackets is the variable Repeat Item, with that detail chosen. For both dates choose the Date
           Format ISO 8601, and switch on Include ISO 8601 Time. In the other two, the text begins with Heart Rate and
           with Sleep.
        3. At its end add

           Text                  the three variables Combined Text, each on a line of its own
           Get Contents of URL   the address; Show More: Method POST
             Headers             Authorization: the header's value; Content-Type: text/plain
             Request Body        File: the Text

        4. Run it, and allow what it asks. 'healthbus samples --type StepCount' shows the steps, 'healthbus quarantine list'
           the lines that weren't understood, with the reason.
        5. To run it each evening: Automation, New Automation, Time of Day, Daily, Run Immediately, healthbus. Choose
           a time when the iPhone is unlocked: Health locks its data with it. What was sent before changes nothing.

        """
}
