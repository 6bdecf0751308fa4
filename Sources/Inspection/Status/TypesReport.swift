import BackgroundDelivery
import Client
import Configuration
import Foundation
import HealthModel
import Logging
import ObserverReading
import Terminal

/// `healthbus types`: what the store holds of each type, and how its changes are delivered. Works on a stopped stack too.
package struct TypesReport {
    /// By identifier.
    package let types: [Value]
    private let now: Date

    /// - Parameter now: the clock, for people's "5 min ago".
    package init(_ stack: Stack, now: Date) throws {
        self.now = now
        let observer = try stack.instance(.observer)
        let reader = stack.reader()
        var samples: [String: Int64] = [:]
        for entry in try reader.pages(observer, ["query": "types"]).first?["types"].array ?? [] {
            if let type = entry["type"].string { samples[type, default: 0] += entry["alive"].int ?? 0 }
        }
        let saved = try reader.pages(observer, ["query": "delivery"]).first ?? .null
        let policy = DeliveryPolicy(configuration: observer.configuration["delivery"])
        let registrations =
            ObserverRegistrations(wireValue: saved["registrations"], policy: policy)
            ?? ObserverRegistrations(policy: policy)
        let names = Set(samples.keys).union(registrations.namedTypes)
        types = names.sorted().map { type in
            [
                "type": .string(type), "samples": .integer(samples[type] ?? 0),
                "requested": Value(registrations.requested(type)?.name),
                "effective": Value(registrations.effective(type)?.name),
                "authorization": .string(
                    registrations.requested(type) == nil
                        ? AuthorizationStatus.notDetermined.rawValue : AuthorizationStatus.requested.rawValue),
                "state": .string(registrations.state(type).rawValue),
                "lastFire": Value(registrations.lastFire(type).map { InstantText.iso8601($0) }),
                "strikes": .integer(Int64(registrations.strikes(type))),
            ]
        }
    }

    /// The row of one type; all for nil.
    package func only(_ type: String?) -> TypesReport {
        type.map { name in TypesReport(types: types.filter { $0["type"].string == name }, now: now) } ?? self
    }

    private init(types: [Value], now: Date) {
        self.types = types
        self.now = now
    }

    package var json: String { Value.array(types).json(pretty: true) }

    package func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("Type"), .number("Samples"), .init("Requested", givesWay: 2), .init("Effective"),
            .init("Authorization", givesWay: 1), .init("State"), .init("Last fire"), .number("Strikes", givesWay: 3),
        ])
        for type in types {
            let fired = type["lastFire"].string.flatMap { InstantText.parse($0) }
                .map { Date(timeIntervalSince1970: $0.seconds) }
            table.add([
                type["type"].string ?? "", HumanFormat.count(Int(type["samples"].int ?? 0)),
                type["requested"].string ?? "", type["effective"].string ?? "", type["authorization"].string ?? "",
                type["state"].string ?? "", HumanFormat.relative(fired, now: now),
                (type["strikes"].int).flatMap { $0 > 0 ? "\($0)" : nil } ?? "",
            ])
        }
        return table.render(for: terminal)
    }
}

/// A type as a person names it: by its identifier, with or without HealthKit's prefix.
package enum TypeName {
    /// An identifier without what HealthKit puts before it: "StepCount".
    package static func short(_ identifier: String) -> String {
        let prefixes = ["HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKCorrelationTypeIdentifier"]
        return String(identifier.dropFirst(prefixes.first { identifier.hasPrefix($0) }?.count ?? 0))
    }

    /// - Parameter known: identifiers that the store has beside HealthKit's own.
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
            "no type is called \(text)",
            hint: nearest.map { "did you mean \($0)?" } ?? "'healthbus types' lists those that the store has")
    }
}
