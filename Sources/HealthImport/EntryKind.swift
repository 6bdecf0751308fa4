import HealthModel

/// What a file in an archive is, if it isn't the export, judged by its content and its folder, since files' own names
/// are localized.
enum EntryKind: Equatable {
    case route
    case electrocardiogram
    case document(DocumentKind)
    case unread(UnreadKind)

    /// - Parameters:
    ///   - name: its path in the archive.
    ///   - head: the first bytes, `ContentKind.sniffLength` of them if there are that many.
    init(name: String, head: [UInt8]) {
        let parts = name.lowercased().split(separator: "/").map { String($0) }
        let file = parts.last ?? ""
        let folders = Set(parts.dropLast())
        // Files that Finder adds.
        if folders.contains("__macosx") || file.hasPrefix("._") || file == ".ds_store" {
            self = .unread(.other)
            return
        }
        let content = ContentKind(head: head)
        let isTable = file.hasSuffix(".csv")
        if content == .gpx {
            self = .route
        } else if folders.contains("clinical-records") || Self.isResource(head) {
            self = .document(.clinicalRecord)
        } else if content == .healthData {
            self = .unread(.export)
        } else if content == .clinicalDocument {
            self = .unread(.clinicalDocument)
        } else if isTable, folders.contains("electrocardiograms") || ElectrocardiogramFile.begins(head) {
            self = .electrocardiogram
        } else if folders.contains(where: { $0.contains("attachment") }) || MediaType.isPicture(head) {
            self = .document(.attachment)
        } else {
            self = .unread(.other)
        }
    }

    /// A file's path without the top folder.
    static func nameInside(_ path: String) -> String {
        let parts = path.split(separator: "/")
        return short((parts.count > 1 ? parts.dropFirst() : parts[...]).joined(separator: "/"))
    }

    /// A path, shortened if it is longer than any that a phone would write.
    static func short(_ path: String) -> String {
        path.utf8.count <= 512 ? path : String(decoding: path.utf8.prefix(512), as: UTF8.self) + "…"
    }

    /// Whether the file is FHIR, whatever folder it is in.
    private static func isResource(_ head: [UInt8]) -> Bool {
        head.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
            && MediaType.isResource(head)
    }
}

/// A file's media type, judged by its first bytes, or failing that by its extension.
enum MediaType {
    static func of(name: String, head: [UInt8]) -> String {
        if let picture = signatures.first(where: { head.starts(with: $0.0) })?.1 { return picture }
        if head.dropFirst(4).starts(with: Array("ftyphei".utf8))
            || head.dropFirst(4).starts(with: Array("ftypmif".utf8))
        {
            return "image/heic"
        }
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if ending == "json" { return isResource(head) ? "application/fhir+json" : "application/json" }
        return endings[ending] ?? "application/octet-stream"
    }

    /// Whether it is something that people attach: a photo or a PDF.
    static func isPicture(_ head: [UInt8]) -> Bool {
        let type = of(name: "", head: head)
        return type.hasPrefix("image/") || type == "application/pdf"
    }

    /// Whether it has a member that each of FHIR's resources has.
    static func isResource(_ head: [UInt8]) -> Bool { ContentKind.contains("\"resourceType\"", in: head) }

    private static let signatures: [([UInt8], String)] = [
        (Array("%PDF-".utf8), "application/pdf"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "image/png"),
        ([0xFF, 0xD8, 0xFF], "image/jpeg"),
        (Array("GIF8".utf8), "image/gif"),
        ([0x49, 0x49, 0x2A, 0], "image/tiff"),
        ([0x4D, 0x4D, 0, 0x2A], "image/tiff"),
    ]

    private static let endings = [
        "xml": "application/xml", "pdf": "application/pdf", "txt": "text/plain", "csv": "text/csv", "rtf": "text/rtf",
        "html": "text/html", "htm": "text/html", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png",
        "heic": "image/heic", "tif": "image/tiff", "tiff": "image/tiff",
    ]
}
