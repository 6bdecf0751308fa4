/// What a file is, judged by its first bytes: names are localized and prove nothing.
package enum ContentKind: Equatable {
    case empty, zip, healthData, clinicalDocument, gpx
    /// What Health Auto Export writes and pushes: a JSON object with `data`.
    case autoExport
    /// The app's own compressed files (`.hae`): LZFSE.
    case compressedAutoExport
    /// JSON of another form.
    case json
    /// Lines of values with a separator between them.
    case table
    /// Compressed, or an archive of another kind than zip.
    case packed
    case other

    /// Long enough for an XML declaration and comments before the document type.
    static let sniffLength = 4096

    init(head: [UInt8]) {
        if head.isEmpty {
            self = .empty
        } else if head.starts(with: [0x50, 0x4B, 3, 4]) || head.starts(with: [0x50, 0x4B, 5, 6]) {
            // A local file header, or the end record of an empty archive.
            self = .zip
        } else if Self.contains("<HealthData", in: head) || Self.contains("<!DOCTYPE HealthData", in: head) {
            self = .healthData
        } else if Self.contains("<ClinicalDocument", in: head) {
            self = .clinicalDocument
        } else if Self.contains("<gpx", in: head) {
            self = .gpx
        } else if ["bvx1", "bvx2", "bvxn", "bvx-"].contains(where: { head.starts(with: $0.utf8) }) {
            self = .compressedAutoExport
        } else if Self.packedHeads.contains(where: { head.starts(with: $0) }) {
            self = .packed
        } else if let first = Self.text(head).first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            self = first == UInt8(ascii: "{") && Self.beginsWithData(Self.text(head).dropFirst()) ? .autoExport : .json
        } else {
            self = Self.isTable(head) ? .table : .other
        }
    }

    /// gzip, xz, 7z, bzip2, zstd, RAR.
    private static let packedHeads: [[UInt8]] = [
        [0x1F, 0x8B], [0xFD, 0x37, 0x7A, 0x58], [0x37, 0x7A, 0xBC, 0xAF], [0x42, 0x5A, 0x68], [0x28, 0xB5, 0x2F, 0xFD],
        [0x52, 0x61, 0x72, 0x21],
    ]

    /// Without a byte order mark and leading space.
    private static func text(_ head: [UInt8]) -> ArraySlice<UInt8> {
        let start = head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return head[start...].drop { $0 <= 0x20 }
    }

    /// Whether the object's first member is `data`, or one of the parts that the app's files have beside it.
    private static func beginsWithData(_ text: ArraySlice<UInt8>) -> Bool {
        let rest = text.drop { $0 <= 0x20 }
        if rest.starts(with: "\"data\"".utf8) { return true }
        return rest.starts(with: "\"workouts\"".utf8) && contains("\"data\"", in: Array(rest))
    }

    private static func isTable(_ head: [UInt8]) -> Bool {
        let line = head.prefix { $0 != 0x0A }
        guard !line.contains(0), line.count < head.count else { return false }
        return [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].contains { separator in
            line.count { $0 == separator } >= 2
        }
    }

    static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}
