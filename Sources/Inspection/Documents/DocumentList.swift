import Client
import Configuration
import Foundation
import HealthModel
import Logging
import Protocol
import StageKit
import Terminal

/// Files stored beside the samples: a list for people and programs, and the full content of a single file.
package struct DocumentList {
    /// The rows in order of their numbers; the same content may have several names.
    package let rows: [DocumentRow]

    /// - Parameter user: nil for all users.
    package init(_ stack: Stack, user: String?) throws {
        rows = try ObserverQueries(stack, stack.reader()).documents(user: user)
    }

    package var value: Value { .array(rows.map(Self.readable)) }

    private static func readable(_ row: DocumentRow) -> Value {
        var members = Value(row).object ?? [:]
        members["id"] = members.removeValue(forKey: "number")
        members["hash"] = .string(row.hash.hexadecimal)
        guard let reference = row.reference else { return .object(members) }
        var named = Value(reference).object ?? [:]
        named["received"] = Value(reference.received.map { InstantText.iso8601($0) })
        members["reference"] = .object(named)
        return .object(members)
    }

    /// Leaves out file names and paths, which may contain personal names.
    package func table(for terminal: Terminal) -> String {
        guard !rows.isEmpty else { return "There are no documents.\n" }
        var table = Table([
            .number("Id"), .init("Kind"), .init("Type", givesWay: 2), .init("Received"), .init("Media", givesWay: 1),
            .number("Size"),
        ])
        for row in rows {
            table.add([
                "\(row.number)", row.kind.rawValue, row.reference.map { TypeName.short($0.type) } ?? "",
                row.reference?.received.map { terminal.moment($0) } ?? "", row.mediaType,
                HumanFormat.bytes(Int(row.bytes)),
            ])
        }
        return table.render(for: terminal)
    }
}

/// Fetches a document's content from the store.
package struct DocumentFetch {
    private let reader: StackReader
    private let observer: StackConfiguration.Instance

    package init(_ stack: Stack) throws {
        reader = stack.reader()
        observer = try stack.instance(.observer)
    }

    /// - Parameter take: receives the content, piece by piece.
    /// - Returns: its size.
    /// - Throws: `Failure` when there is no such document, or its content isn't what was stored; `StageError` when the
    ///   pages can't be read or end too early.
    package func get(_ number: Int64, _ take: ([UInt8]) throws -> Void) throws -> Int64 {
        let hash = ContentHash()
        var offset: Int64 = 0
        while true {
            let pages: [Page<FilePage>]
            do {
                pages = try reader.pages(observer, .document(number, offset: offset))
            } catch StageError.refused(_, let why) {
                throw Failure(why, hint: "'healthbus documents' lists them all")
            }
            for page in pages.map(\.content) {
                guard page.offset == offset else { throw StageError.unreadablePage(producer: observer.name) }
                hash.add(page.bytes)
                try take(page.bytes)
                offset += Int64(page.bytes.count)
                guard let size = page.size else { continue }
                guard size == offset, page.hash == hash.value else {
                    throw Failure(
                        "document \(number) isn't what was stored",
                        hint: "import the export it came from again, or restore a backup", code: .damaged)
                }
                return size
            }
            guard pages.contains(where: { !$0.content.bytes.isEmpty }) else {
                throw StageError.unreadablePage(producer: observer.name)
            }
        }
    }
}
