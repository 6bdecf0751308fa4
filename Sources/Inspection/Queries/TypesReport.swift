import BackgroundDelivery
import Client
import Configuration
import Foundation
import HealthModel
import Logging
import ObserverReading
import Protocol
import Terminal

/// `healthbus types`: what the store holds of each type, and how its changes are delivered. Works on a stopped stack
/// too.
package struct TypesReport {
    /// By identifier.
    package let types: [Row]
    package let statistics: HeldStatistics
    private let now: Date

    /// A type as `types --json` prints it.
    package struct Row: Codable, Sendable {
        package var type: String
        var samples: Int64
        @OrNull var requested: String?
        @OrNull var effective: String?
        var authorization: AuthorizationStatus
        var state: String
        @OrNull var lastFire: String?
        var strikes: Int
    }

    /// - Parameter now: the current time, for ages such as "5 min ago".
    package init(_ stack: Stack, now: Date) throws {
        self.now = now
        let observer = try stack.instance(.observer)
        let reader = stack.reader()
        var samples: [String: Int64] = [:]
        let held: [Page<TypesPage>] = try reader.pages(observer, .types)
        statistics = HeldStatistics(held.flatMap(\.types))
        for entry in held.first?.types ?? [] { samples[entry.type, default: 0] += Int64(entry.alive) }
        let saved: [Page<DeliveryPage>] = try reader.pages(observer, .delivery)
        let limits = SystemLimits(configuration: observer.configuration["delivery"])
        let registrations = ObserverRegistrations(
            saved.first?.registrations ?? KeptRegistrations(), limits: limits)
        let names = Set(samples.keys).union(registrations.namedTypes)
        types = names.sorted().map { type in
            let requested = registrations.requested(type)
            return Row(
                type: type, samples: samples[type] ?? 0, requested: requested?.name,
                effective: registrations.effective(type)?.name,
                authorization: registrations.isRegistered(type) ? .requested : .notDetermined,
                state: registrations.state(type).rawValue,
                lastFire: registrations.lastFire(type).map { InstantText.iso8601($0) },
                strikes: registrations.strikes(type))
        }
    }

    /// Only the row of one type; nil for all rows.
    package func only(_ type: String?) -> TypesReport {
        type.map { name in
            TypesReport(types: types.filter { $0.type == name }, statistics: statistics, now: now)
        } ?? self
    }

    private init(types: [Row], statistics: HeldStatistics, now: Date) {
        (self.types, self.statistics, self.now) = (types, statistics, now)
    }

    package var json: String { Value(types).json(pretty: true) }

    package func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("Type"), .number("Samples"), .init("Requested", givesWay: 2), .init("Effective"),
            .init("Authorization", givesWay: 1), .init("State"), .init("Last fire"), .number("Strikes", givesWay: 3),
        ])
        for type in types {
            let fired = type.lastFire.flatMap { InstantText.parse($0) }
            table.add([
                type.type, HumanFormat.count(Int(type.samples)), type.requested ?? "", type.effective ?? "",
                type.authorization.rawValue, type.state, HumanFormat.relative(fired, now: now, for: terminal),
                type.strikes > 0 ? "\(type.strikes)" : "",
            ])
        }
        return table.render(for: terminal)
    }
}

/// A type as people name it: by its identifier, with or without HealthKit's prefix.
package enum TypeName {
    /// An identifier without HealthKit's prefix: "StepCount".
    package static func short(_ identifier: String) -> String { HealthType.withoutPrefix(identifier) }

    /// The identifier without "HKQuantityTypeIdentifier" and the like: "StepCount"; "Workout" if nothing follows the
    /// prefix.
    package static func bare(_ identifier: String) -> String {
        guard let prefix = identifier.firstRange(of: "TypeIdentifier") else { return identifier }
        let name = identifier[prefix.upperBound...]
        return name.isEmpty ? String(identifier[..<prefix.lowerBound].dropFirst(2)) : String(name)
    }

    /// - Parameter known: identifiers in the store besides HealthKit's own.
    /// - Throws: `Failure` (usage) with the nearest name.
    package static func identifier(_ text: String, known: some Sequence<String> = []) throws(Failure) -> String {
        let all = Set(HealthType.allKnown.keys).union(known).sorted()
        if let found = all.first(where: {
            $0.lowercased() == text.lowercased() || short($0).lowercased() == text.lowercased()
        }) {
            return found
        }
        if ["workout", "workouts"].contains(text.lowercased()) { return HealthType.workoutIdentifier }
        let nearest = Nearest.to(text, among: all.map(short)) ?? Nearest.to(text, among: all)
        throw .usage(
            "there is no type \(text)",
            hint: nearest.map { "did you mean \($0)?" } ?? "'healthbus types' lists those in the store")
    }

    /// The same, asking for the types in the store only if the name isn't HealthKit's.
    /// - Parameter known: returns nil if the store can't be asked; the name is then taken as it is, since it may be a
    ///   person's own type.
    package static func identifier(_ text: String, asking known: () -> [String]?) throws(Failure) -> String {
        if let found = try? identifier(text) { return found }
        guard let known = known() else { return text }
        return try identifier(text, known: known)
    }
}
