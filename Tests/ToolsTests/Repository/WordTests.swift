import Foundation
import Testing

/// The words that CONTRIBUTING.md rules out are nowhere in the tree: not in identifiers, tests, comments or messages.
@Suite struct WordTests {
    /// The forms of each word, and what to write instead.
    private static let instead: [String: String] = [
        "tell tells told telling teller untold": "say, report or distinguish", "anew": "again",
        "mend mends mended mending": "repair", "sink sinks": "destination or receiver", "suspect suspects": "held",
        "bury buries buried": "dead letter", "reject rejects rejected": "quarantine or refuse",
        "recompute recomputes recomputed recomputing": "replay, reset or compute again",
    ].reduce(into: [:]) { all, rule in for form in rule.key.split(separator: " ") { all[String(form)] = rule.value } }
    /// Ruled out too, but not found as words.
    private static let others: Set = [
        "service", "processor", "offset", "closed",  // systemd's; the machine's; of bytes and zones; as of sockets
        "hold against",  // two words, which `mistake` finds
    ]

    /// Names on the wire, in files and of other programs, which stay: in files with such a path, and what.
    private static let kept: [(path: String, names: [String])] = [
        ("", ["\"mend\"", "\"mending\"", "mend.begun", "mend.ended", "control-mend", "--mend", "#mending"]),  // the bus
        ("docs/protocol.", ["mending", "Mending", "mend"]), ("HeartbeatDetails.swift", ["var mending"]),
        ("", ["stage.mending", "said.mending", "FROM mending"]),  // the heartbeat's member, and a table
        ("", ["follows-anew", "\"untold\"", "`untold`", "untoldMinutes"]),  // log events, and an answer's member
        ("DeliveryDetails.swift", ["told"]), ("Details.swift", ["(told:"]),  // a notifier's count
        ("otify", ["(told:", " told:", "\"told\""]), ("protocol.cddl", ["\"told\""]),
        ("Metrics", ["notifier.told", "\"told\""]),
        ("", ["\"rejected\"", "\"rejects\"", "`rejected`"]),  // the answers of other backends
    ]

    private static let folders = [
        "Sources", "plugins", "Tests", "Benchmarks", "docs", "configs", "containers", "examples", "grafana",
        "README.md", "Makefile", "Package.swift", "Dockerfile", ".ci/run",
    ]
    private static let suffixes: Set = [
        "swift", "md", "js", "html", "css", "py", "sh", "json", "c", "h", "cddl", "yml", "yaml", "txt", "",
    ]
    /// What was measured or made once, and this file.
    private static let exempt = ["Benchmarks/results/", "Tests/Fixtures/", "Tests/Fuzz/Corpus/", "WordTests.swift"]

    /// The words of a line, in lower case; those of an identifier one by one.
    private static func words(_ line: some Sequence<UInt8>) -> [String] {
        var (words, word, capitals, isEscaped) = ([String](), [UInt8](), 0, false)
        func end(keeping last: Int = 0) {
            if word.count > last { words.append(String(decoding: word.dropLast(last), as: UTF8.self)) }
            word = word.suffix(last)
        }
        for byte in line {
            // The letter of an escape in a text belongs to no word.
            if isEscaped || byte == UInt8(ascii: "\\") {
                end()
                (capitals, isEscaped) = (0, !isEscaped)
                continue
            }
            let (isCapital, isSmall) = ((65...90).contains(byte), (97...122).contains(byte))
            // The last of several capitals begins a word.
            if isSmall ? capitals > 1 : !isCapital || capitals == 0 { end(keeping: isSmall ? 1 : 0) }
            if isCapital || isSmall { word.append(byte | 32) }
            capitals = isCapital ? capitals + 1 : 0
        }
        end()
        return words
    }

    private static func mistake(in words: [String]) -> String? {
        if let word = words.first(where: { instead[$0] != nil }) { return "'\(word)': \(instead[word] ?? "")" }
        guard let place = words.firstIndex(of: "against") else { return nil }
        let holds = !Set(words[max(0, place - 4)..<place]).isDisjoint(with: ["hold", "holds", "held", "holding"])
        return holds ? "'hold against': check or compare" : nil
    }

    /// What is wrong with a line, and what to write instead.
    private static func mistake(in line: some Sequence<UInt8>, of file: String) -> String? {
        guard mistake(in: words(line)) != nil else { return nil }
        var text = String(decoding: Array(line), as: UTF8.self)
        for (path, names) in kept where path.isEmpty || file.contains(path) {
            for name in names { text = text.replacing(name, with: "") }
        }
        return mistake(in: words(text.utf8))
    }

    @Test func theTreeUsesTheHousesWords() {
        let root = Checkout.root
        var (read, found) = (0, [String]())
        for folder in Self.folders {
            let inside = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            for file in [folder] + (inside?.map { "\(folder)/\($0)" } ?? []) {
                guard Self.suffixes.contains(URL(filePath: file).pathExtension),
                    !Self.exempt.contains(where: file.contains),
                    let bytes = FileManager.default.contents(atPath: root.appending(path: file).path)
                else { continue }
                read += 1
                let lines = [Data(file.utf8)] + bytes.split(separator: 10, omittingEmptySubsequences: false)
                for (number, line) in lines.enumerated() {
                    if let mistake = Self.mistake(in: line, of: file) { found.append("\(file):\(number): \(mistake)") }
                }
            }
        }
        #expect(read > 2000 && found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    /// CONTRIBUTING.md rules out no word that this test doesn't know.
    @Test func everyWordThatIsRuledOutIsKnown() throws {
        let page = try Checkout.text("CONTRIBUTING.md")
        let named = page.matches(of: #/[Nn]ot\s+\*([a-z ]+)\*/#).map { String($0.1) }
        #expect(named.count > 10)
        for word in named { #expect(Self.instead[word] != nil || Self.others.contains(word), "\(word)") }
    }

    @Test(arguments: [
        "hasTold = true", "aUUIDTellsApart", "Begins anew.", "a_sink", "it holds this against it", "\\nanew",
    ])
    func aWordThatIsRuledOutIsFound(_ line: String) {
        #expect(Self.mistake(in: line.utf8, of: "Sources/A.swift") != nil)
    }

    @Test(arguments: ["an intelligent recommendation", "name = \"mend\"", "aNewOne", "check it against", "--mend"])
    func otherWordsAreNot(_ line: String) { #expect(Self.mistake(in: line.utf8, of: "Sources/A.swift") == nil) }
}
