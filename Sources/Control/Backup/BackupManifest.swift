import Foundation
import HealthModel
import Logging
import Protocol

/// The contents of a backup: `manifest.json` in its folder.
package struct BackupManifest: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// The instance, and the name of its file without its extension.
        package var name: String
        package var plugin: String
        package var bytes: Int64
        /// The XXH3-128 of the checksums of the file's pieces. It protects against corruption and mix-ups, not against
        /// forgery.
        package var checksum: String
        package var head: StoreHead

        package var file: String { name + ".sqlite" }
    }

    package static let fileName = "manifest.json"
    static let format: Int64 = 1

    /// When the first copy began.
    package var made: Instant
    /// The instances in the order in which they were copied: consumers before their producers.
    package var entries: [Entry]

    package init(made: Instant, entries: [Entry]) { (self.made, self.entries) = (made, entries) }

    package var value: Value {
        [
            "healthbusBackup": .integer(Self.format), "made": .string(InstantText.iso8601(made)),
            "instances": .array(
                entries.map {
                    [
                        "name": .string($0.name), "plugin": .string($0.plugin), "file": .string($0.file),
                        "bytes": .integer($0.bytes), "xxh3": .string($0.checksum), "head": Value($0.head),
                    ]
                }),
        ]
    }

    /// - Parameter place: the folder to name in messages.
    /// - Throws: `Failure` for anything that isn't a backup's manifest, or has a later format.
    package init(_ value: Value, place: String) throws {
        guard let format = value["healthbusBackup"].int, let list = value["instances"].array,
            let made = value["made"].string.flatMap({ InstantText.parse($0) })
        else {
            throw Failure(
                "\(place) isn't a backup", hint: "give a folder that 'healthbus backup FOLDER' wrote", code: .damaged)
        }
        guard format <= Self.format else {
            throw Failure(
                "\(place) was made by a newer release (format \(format), this one knows \(Self.format))",
                hint: "restore it with that release")
        }
        self.made = made
        entries = try list.map { row in
            guard let name = row["name"].string, let plugin = row["plugin"].string, let bytes = row["bytes"].int,
                let checksum = row["xxh3"].string, let head = row["head"].read(StoreHead.self), Self.isName(name)
            else { throw Failure("the manifest of \(place) is damaged", hint: "use another backup", code: .damaged) }
            return Entry(name: name, plugin: plugin, bytes: bytes, checksum: checksum, head: head)
        }
    }

    /// A name in the manifest becomes the name of a folder.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && name.utf8.count <= 100
    }
}
