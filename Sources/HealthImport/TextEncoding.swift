/// The encoding that an XML file claims to have, by its byte order mark or its declaration. Only UTF-8 is read: real
/// exports use nothing else, and a name read in another encoding would become a different name.
enum TextEncoding {
    /// The encoding's name, if the file is an export in an encoding other than UTF-8 or ASCII; nil for everything else.
    ///
    /// - Parameter head: the file's first bytes.
    static func ofForeignExport(_ head: [UInt8]) -> String? {
        if let wide = wide(head) { return wide }
        guard ContentKind(head: head) == .healthData else { return nil }
        let begin = head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let declaration = head[begin...]
        guard declaration.starts(with: "<?xml".utf8) else { return nil }
        let end = declaration.firstIndex(of: UInt8(ascii: ">")) ?? declaration.endIndex
        let text = String(decoding: declaration[..<end], as: UTF8.self)
        guard let name = text.firstMatch(of: /\sencoding\s*=\s*["']([^"']*)["']/)?.1 else { return nil }
        if ["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased()) { return nil }
        // The encoding's name appears in messages.
        let isName = name.utf8.count <= 40 && name.wholeMatch(of: /[A-Za-z][A-Za-z0-9._\-]*/) != nil
        return isName ? String(name) : "an unknown encoding"
    }

    /// UTF-16 or UTF-32, recognized by its byte order mark or, failing that, by the zero bytes in an XML file's first
    /// character.
    private static func wide(_ head: [UInt8]) -> String? {
        let marks: [([UInt8], String)] = [
            ([0xFF, 0xFE, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF], "UTF-32"), ([0xFF, 0xFE], "UTF-16"),
            ([0xFE, 0xFF], "UTF-16"), ([0x3C, 0, 0x3F, 0], "UTF-16"), ([0, 0x3C, 0, 0x3F], "UTF-16"),
        ]
        guard let name = marks.first(where: { head.starts(with: $0.0) })?.1 else { return nil }
        return ContentKind(head: head.filter { $0 != 0 }) == .healthData ? name : nil
    }
}
