import Foundation

/// Why a file can't be imported at all. Errors within a readable export are reported by `ReadSummary` and quarantined
/// input instead.
package enum ImportError: Error, Equatable, CustomStringConvertible {
    case notFound(path: String)
    case notPermitted(path: String)
    case isDirectory(path: String)
    /// Any other failure to open or read, in the system's own words.
    case unreadable(path: String, reason: String)
    case emptyFile(path: String)
    case notAnExport(path: String, kind: ContentKind)
    /// A file of Health Auto Export that isn't well-formed JSON; `reason` says where.
    case malformedAutoExport(path: String, reason: String)
    /// A file of Health Auto Export with more bytes than are read at once.
    case largeAutoExport(path: String, limit: Int64)
    /// The file is only the clinical document that comes with the export.
    case clinicalDocument(path: String)
    case emptyArchive(path: String)
    /// `found`: names of at most five files; `count`: how many files there are.
    case noExportInArchive(path: String, found: [String], count: Int)
    /// The export's file in the archive is empty. `entry` is the file's name.
    case emptyExportInArchive(path: String, entry: String)
    /// A file in the archive has the export's name, but isn't an export.
    case unreadableExportInArchive(path: String, entry: String)
    /// There is no intact export, and a file that may be one has a wrong checksum or can't be inflated.
    case damagedFileInArchive(path: String, entry: String, reason: String)
    case damagedArchive(path: String, reason: String)
    case encryptedArchive(path: String)
    /// The export's text is in an encoding other than UTF-8. `entry` is the export's name if it is in an archive.
    case foreignEncoding(path: String, entry: String?, encoding: String)
    case outOfMemory

    /// The case for a failed open or read.
    package static func system(_ code: Int32, path: String) -> ImportError {
        switch code {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case EISDIR: .isDirectory(path: path)
        default: .unreadable(path: path, reason: String(cString: strerror(code)))
        }
    }

    package var description: String { "\(problem); \(hint)" }

    /// What happened, and to what.
    package var problem: String {
        switch self {
        case .notFound(let path): "there is no file '\(path)'"
        case .notPermitted(let path): "no permission to read '\(path)'"
        case .isDirectory(let path): "'\(path)' is a folder"
        case .unreadable(let path, let reason): "can't read '\(path)': \(reason)"
        case .emptyFile(let path): "'\(path)' is empty"
        case .notAnExport(let path, let kind): "'\(path)' \(Self.appearance(kind))"
        case .malformedAutoExport(let path, let reason):
            "'\(path)' begins as a file of Health Auto Export, but \(reason)"
        case .largeAutoExport(let path, let limit):
            "'\(path)' is a file of Health Auto Export with more than \(limit >> 20) MiB"
        case .clinicalDocument(let path):
            "'\(path)' is the clinical document (CDA) beside an export, not the export itself"
        case .emptyArchive(let path): "the archive '\(path)' contains no file"
        case .noExportInArchive(let path, let found, let count):
            "the archive '\(path)' contains no Apple Health export (it contains \(found.joined(separator: ", "))"
                + (count > found.count ? " and \(count - found.count) more)" : ")")
        case .emptyExportInArchive(let path, let entry):
            "in the archive '\(path)' the export '\(entry)' is empty: its file has no bytes"
        case .unreadableExportInArchive(let path, let entry):
            "in the archive '\(path)' the file '\(entry)' has an export's name, but isn't one: it contains no HealthData"
        case .damagedFileInArchive(let path, let entry, let reason):
            "in the archive '\(path)' the file '\(entry)' is damaged (\(reason)): "
                + "it is unknown which of its values are right, so none was imported"
        case .damagedArchive(let path, let reason):
            "the archive '\(path)' is damaged before the export begins (\(reason))"
        case .encryptedArchive(let path): "the archive '\(path)' is encrypted"
        case .foreignEncoding(let path, nil, let encoding): "'\(path)' is in \(encoding), not in UTF-8"
        case .foreignEncoding(let path, let entry?, let encoding):
            "in the archive '\(path)' the export '\(entry)' is in \(encoding), not in UTF-8"
        case .outOfMemory: "not enough memory to read the export"
        }
    }

    /// What to do now.
    package var hint: String {
        switch self {
        case .notFound: "check the path"
        case .notPermitted: "allow the user that runs healthbus to read it, as with chmod a+r"
        case .isDirectory: "name the export.zip, or the export.xml in it"
        case .unreadable: "check the disk, then try again"
        case .emptyFile, .damagedArchive, .emptyExportInArchive, .unreadableExportInArchive:
            "copy or export it again: Health app, your picture, Export All Health Data"
        case .damagedFileInArchive:
            "copy or export it again: Health app, your picture, Export All Health Data; "
                + "if there is no other copy, unpack it and import its export.xml, though some values may be wrong"
        case .notAnExport(_, let kind): Self.way(kind)
        case .noExportInArchive(_, let found, _) where found.contains { $0.hasSuffix(".json") }:
            "if its JSON files are Health Auto Export's, unpack it and import them; otherwise \(Self.choose)"
        case .emptyArchive, .noExportInArchive: Self.choose
        case .malformedAutoExport: "copy it again, or have the app write it again"
        case .largeAutoExport: "have the app write a file for each year or month, and import these"
        case .clinicalDocument: "choose export.xml from the same folder, or the whole export.zip"
        case .encryptedArchive: "unpack it and import its export.xml"
        case .foreignEncoding(_, nil, _):
            "save it as UTF-8 and import that (its first line must then say UTF-8, or no encoding)"
        case .foreignEncoding:
            "unpack it, save the export as UTF-8 and import that (its first line must then say UTF-8, or no encoding)"
        case .outOfMemory: "close other programs, then try again"
        }
    }

    private static let choose =
        "choose the export.zip of the Health app (your picture, Export All Health Data), or the export.xml in it"

    private static func appearance(_ kind: ContentKind) -> String {
        switch kind {
        case .gpx: "is a route (GPX), which has no workout without its export"
        case .compressedAutoExport:
            "is one of Health Auto Export's compressed files (.hae), which only the app can read"
        case .json: "is JSON, but not as Health Auto Export writes it"
        case .table: "seems to be a table (CSV), which is read only inside an export"
        case .packed: "is a compressed file or an archive other than zip"
        default: "is neither a zip archive nor an Apple Health export"
        }
    }

    private static func way(_ kind: ContentKind) -> String {
        switch kind {
        case .gpx: "import the export.zip that it is from"
        case .compressedAutoExport:
            "in Health Auto Export, export the same data with Export Format JSON, and import that file; or let the app "
                + "send it ('healthbus pair')"
        case .json: "send samples of your own to /v1/samples (docs/ways-in.md), or \(choose)"
        case .table: "in Health Auto Export, choose Export Format JSON and import that file; or \(choose)"
        case .packed: "unpack it and import the export.xml, export.zip or HealthAutoExport-….json in it"
        default: choose + ", or a HealthAutoExport-….json"
        }
    }
}
