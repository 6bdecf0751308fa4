import HealthModel

extension ExportReader {
    /// Rereads the start tag of one record from quarantine, applying today's rules.
    /// - Returns: false for anything that isn't a record's whole start tag; other elements consist of more than a start
    ///   tag.
    package static func reread(element raw: String, into receiver: @escaping ExportReceiver) throws -> Bool {
        let prefix = "<Record"
        guard raw.hasPrefix(prefix), raw.hasSuffix(">"),
            raw.dropFirst(prefix.count).first.map({ $0.isWhitespace }) == true
        else { return false }
        var tag = raw.dropLast()
        if tag.hasSuffix("/") { tag = tag.dropLast() }
        let source = MemorySource(Array("<HealthData>\n\(tag)/>\n</HealthData>\n".utf8))
        try ExportParsing(receiver: receiver, known: [:]).parse(source, entry: "quarantine", total: 0)
        return true
    }
}
