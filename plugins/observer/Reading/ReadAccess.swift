import BackgroundDelivery
import HealthModel
import HealthStore
import MessageBus
import Protocol
import SQLite

/// What the stack's consumers may read at present. Consumers stand for the app: while the phone is locked they may read
/// nothing; a denied type looks as if it had no samples, as do positions to a consumer without the right to them. A
/// consumer without the entitlement for health data is refused, as in HealthKit. A person's own tools read the store as
/// it is; a tool that uses a plugin's key may read what the plugin may.
final class ReadAccess {
    private let find: Statement
    private var denied: Set<String> = []

    init(_ database: Database) throws {
        // A store that was never opened for writing has no such table, and nothing in it is locked or denied.
        let exists = try database.hasTable("delivery")
        find = try database.prepare(
            exists ? "SELECT value FROM delivery WHERE key = 'access'" : "SELECT NULL WHERE 0")
    }

    /// Reads the current state for a request, in the read transaction that answers it.
    /// - Throws: `DeliveryError`: `authorizationDenied` without the entitlement, `databaseInaccessible` while the
    ///   device is locked.
    /// - Parameter readsSamples: false for facts about samples: the debouncer needs them at any time, but they hide what
    ///   is denied.
    func refresh(readsSamples: Bool, for consumer: String?) throws {
        denied = []
        let access = try current()
        guard let consumer = Self.plugin(consumer, access) else { return }
        if let readers = access?.readers, !readers.contains(consumer) {
            throw DeliveryError(
                .authorizationDenied, consumer,
                remedy: "\(consumer) lacks the entitlement health; 'healthbus validate' names the file to add it to")
        }
        if readsSamples, access?.locked == true {
            throw DeliveryError(
                .databaseInaccessible, consumer, remedy: "the device is locked; ask again when it is unlocked")
        }
        denied = Set(access?.denied ?? [])
        if let locators = access?.locators, !locators.contains(consumer) {
            denied.insert(HealthType.locationIdentifier)
        }
    }

    /// - Throws: `PullRefusal` if the consumer isn't one of a person's own tools.
    func refuse(_ consumer: String?, what: String) throws {
        guard try Self.plugin(consumer, current()) != nil else { return }
        throw PullRefusal("only a person's own tools get \(what)")
    }

    private func current() throws -> KeptAccess? {
        try find.firstRow({ $0.bytes(0) }).flatMap { try Value(json: $0).read(KeptAccess.self) }
    }

    /// The instance that asks, itself or as a tool; nil for a person's own tools.
    private static func plugin(_ consumer: String?, _ access: KeptAccess?) -> String? {
        guard let consumer, BusName.isTool(consumer) else { return consumer }
        return BusName.owner(ofTool: consumer).flatMap { access?.plugins?.contains($0) == true ? $0 : nil }
    }

    func allowed(_ types: TypeFilter.Types) -> TypeFilter.Types { Self.without(denied, types) }

    func allows(_ type: String) -> Bool { !denied.contains(type) }

    /// If a type is wanted only during samples of a denied type, none of its samples may be found either: they would
    /// reveal when the denied samples were.
    func allowed(_ query: SliceQuery) -> SliceQuery {
        guard !denied.isEmpty else { return query }
        var query = query
        let hidden = query.during.filter { denied.contains($0.value) }.keys
        query.types = Self.without(denied.union(hidden), query.types)
        for type in hidden { query.during[type] = nil }
        return query
    }

    private static func without(_ hidden: Set<String>, _ types: TypeFilter.Types) -> TypeFilter.Types {
        guard !hidden.isEmpty else { return types }
        switch types {
        case .only(let names): return .only(names.subtracting(hidden))
        case .allExcept(let names): return .allExcept(names.union(hidden))
        }
    }
}

/// The few facts that each read needs, as stored in the observer's file.
package struct KeptAccess: Codable {
    var locked: Bool
    var denied: [String]
    /// Which consumers may read positions; nil: all.
    package var locators: [String]?
    /// Who may read health data; nil: everybody.
    var readers: [String]?
    /// The instances whose tools may read only what the instance itself may; nil: none.
    var plugins: [String]?

    package init(
        locked: Bool, denied: [String], locators: [String]?, readers: [String]? = nil, plugins: [String]? = nil
    ) {
        (self.locked, self.denied, self.locators, self.readers) = (locked, denied, locators, readers)
        self.plugins = plugins
    }
}
