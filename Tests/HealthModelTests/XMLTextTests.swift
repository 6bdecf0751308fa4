import HealthModel
import Testing

@Suite struct XMLTextTests {
    @Test(arguments: [
        ("", ""), ("Anna’s Watch ⌚️", "Anna’s Watch ⌚️"), ("a & b", "a &amp; b"), ("&lt;", "&amp;lt;"),
        ("<\"a\">'", "&lt;&quot;a&quot;&gt;'"),
    ])
    func itEscapesWhatEndsContentOrAttributes(_ text: String, _ escaped: String) {
        #expect(XMLText.escaped(text) == escaped)
    }
}
