import Digest
import Foundation
import HealthModel
import Testing

/// The files of a stack's instance `files`.
struct Lake {
    let folder: String

    init(_ stack: TestStack, mayBeAbsent: Bool = false) throws {
        folder = stack.state + "/files/data"
        #expect(mayBeAbsent || FileManager.default.fileExists(atPath: folder))
    }

    func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + path)))
    }

    /// All files except the manifest, including hidden ones.
    func files() -> Set<String> {
        let all = FileManager.default.enumerator(atPath: folder)
        var found: Set<String> = []
        while let path = all?.nextObject() as? String {
            if all?.fileAttributes?[.type] as? FileAttributeType == .typeRegular, path != "manifest.json" {
                found.insert(path)
            }
        }
        return found
    }

    func manifest() throws -> Value { try Value(json: try bytes("manifest.json")) }

    /// The differences between the folder and the manifest.
    func differences() throws -> [String] {
        var found: [String] = []
        var listed: Set<String> = []
        let manifest = try manifest()
        if manifest["complete"] != true { found.append("incomplete") }
        for entry in manifest["files"].array ?? [] {
            let path = entry["path"].string ?? ""
            listed.insert(path)
            let bytes = try bytes(path)
            var sum = SHA256()
            bytes.withUnsafeBytes { sum.add($0) }
            if sum.hexadecimal != entry["sha256"].string || bytes.count != Int(entry["bytes"].int ?? -1) {
                found.append(path)
            }
        }
        return found + files().symmetricDifference(listed).sorted()
    }

    /// The number of rows of samples by type, according to the manifest.
    func samples() throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for entry in try manifest()["files"].array ?? [] {
            guard let part = entry["path"].string?.split(separator: "/").first(where: { $0.hasPrefix("type=") }) else {
                continue
            }
            counts[String(part.dropFirst(5)), default: 0] += entry["rows"].int ?? 0
        }
        return counts
    }

    /// The rows of all files whose path begins with the given prefix, by column.
    func table(_ prefix: String) throws -> [[String: String]] {
        try files().filter { $0.hasPrefix(prefix) }.sorted().flatMap { path in
            var rows = Self.rows(String(decoding: try bytes(path), as: UTF8.self))
            let head = rows.removeFirst()
            return rows.map { Dictionary(zip(head, $0), uniquingKeysWith: { $1 }) }
        }
    }

    private static func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = []
        var (row, field, isQuoted): ([String], String, Bool) = ([], "", false)
        for letter in text {
            switch letter {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                row.append(field)
                field = ""
            case "\n" where !isQuoted:
                rows.append(row + [field])
                (row, field) = ([], "")
            default: field.append(letter)
            }
        }
        return rows
    }
}
