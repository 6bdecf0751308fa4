import HealthModel
import ObserverReading
import Protocol
import StageKit

/// Known files that are still in the inbox folder, and the import that each belongs to.
final class DropLedger {
    struct Drop {
        var name: String
        var id: String
        var file: FileIdentity
        /// Whether the file is being moved; if that failed, when it is tried again.
        var isMoving = false
        var retry: MonotonicTime?
    }

    private struct Kept: Codable {
        var id: String
        var file: FileIdentity
    }

    private(set) var drops: [String: Drop] = [:]

    /// The time between two attempts to move a file.
    static let pause = Duration.seconds(60)

    func open(_ turn: Turn) throws {
        try ImportTables.drops.forEach(in: turn.database) { name, value in
            guard let kept = value.read(Kept.self) else { return }
            drops[name] = Drop(name: name, id: kept.id, file: kept.file)
        }
    }

    /// The file that an import belongs to.
    func file(of id: String) -> FileIdentity? { drops.values.first { $0.id == id }?.file }

    func add(_ drop: Drop, _ turn: Turn) throws {
        drops[drop.name] = drop
        try ImportTables.drops.set(drop.name, to: Value(Kept(id: drop.id, file: drop.file)), turn)
    }

    func begin(_ name: String) {
        drops[name]?.isMoving = true
        drops[name]?.retry = nil
    }

    func fail(_ name: String, at now: MonotonicTime) {
        drops[name]?.isMoving = false
        drops[name]?.retry = now + Self.pause
    }

    func remove(_ name: String, _ turn: Turn) throws {
        drops[name] = nil
        try ImportTables.drops.remove(name, turn)
    }
}
