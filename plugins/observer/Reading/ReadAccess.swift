import BackgroundDelivery
import HealthModel
import HealthStore
import MessageBus
import Protocol
import SQLite

/// What the stack's consumers may read at present. They are the app: while the phone is locked, nothing; a denied type
/// looks as if it had no samples. A person's own tools read the store as it is.
final class ReadAccess {
    private let find: Statement
    private var denied: Set<String> = []

    init(_ database: Database) throws {
        // A store that was never opened for writing has no such table; then nothing is locked or denied.
        let exists = try database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'delivery'")
            .firstRow { _ in true }
        find = try database.prepare(
            exists == true ? "SELECT value FROM delivery WHERE key = 'access'" : "SELECT NULL WHERE 0")
    }

    /// Reads the current state for a request, in the read transaction that answers it.
    /// - Throws: `DeliveryError` (`databaseInaccessible`) while the device is locked.
    func refresh(for query: Query, of consumer: String?) throws {
        denied = []
        switch query {
        case .samples, .spans, .slice: break
        default: return
        }
        guard let consumer, !BusName.isTool(consumer),
            let access = try find.firstRow({ $0.bytes(0) }).map({ try Value(json: $0).read(KeptAccess.self) })
        else { return }
        if access?.locked == true {
            throw DeliveryError(
                .databaseInaccessible, consumer, remedy: "the device is locked; ask again when it isn't")
        }
        denied = Set(access?.denied ?? [])
    }

    func allowed(_ types: TypeFilter.Types) -> TypeFilter.Types {
        guard !denied.isEmpty else { return types }
        switch types {
        case .only(let names): return .only(names.subtracting(denied))
        case .allExcept(let names): return .allExcept(names.union(denied))
        }
    }
}

/// The little that each read needs to know, as stored in the observer's file.
package struct KeptAccess: Codable {
    var locked: Bool
    var denied: [String]

    package init(locked: Bool, denied: [String]) {
        self.locked = locked
        self.denied = denied
    }
}
