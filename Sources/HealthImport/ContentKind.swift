/// What a file is, judged by its first bytes: names are localized and prove nothing.
enum ContentKind: Equatable {
    case empty, zip, healthData, clinicalDocument, gpx, other

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
        } else {
            self = .other
        }
    }

    private static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}
