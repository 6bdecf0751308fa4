import CXMLStream

extension ExportParser {
    /// What is wrong with a document that was read. If several things are wrong, this is the most informative one.
    static func damage(of stream: XMLStream, entry: String, archiveDamage: String?) -> Damage? {
        let form = stream.damage
        if let line = stream.firstZeros {
            let what = archiveDamage ?? "there are zero bytes where content was"
            return Damage(what: what, entry: entry, line: line)
        }
        if form.errors > 0 {
            let what = withUnsafeBytes(of: form.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            let isCut = archiveDamage != nil || !stream.isComplete
            return Damage(what: archiveDamage ?? what, entry: entry, line: form.line, isCut: isCut)
        }
        if let archiveDamage { return Damage(what: archiveDamage, entry: entry, line: stream.line) }
        if !stream.hasRoot { return Damage(what: "the file ends before its HealthData element", entry: entry, line: 0) }
        if !stream.isComplete {
            return Damage(what: "the XML ends before the export does", entry: entry, line: stream.line)
        }
        if form.extraLine > 0 {
            let what = "there is more after the end of the export, from line \(form.extraLine): it isn't read"
            return Damage(what: what, entry: entry, line: 0, isCut: false)
        }
        return nil
    }
}
