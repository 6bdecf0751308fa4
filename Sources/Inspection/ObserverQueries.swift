import Client
import Configuration
import HealthModel
import Logging
import Protocol

/// What commands ask the observer, whether it is running or not.
package struct ObserverQueries {
    /// The types whose payloads the handlers of heart rates and doses read too: explanations need what they get.
    private static let payloadTypes = [
        "HKQuantityTypeIdentifierHeartRate", HealthType.statistics(of: "HKQuantityTypeIdentifierHeartRate"),
        HealthType.medicationDoseIdentifier,
    ]

    package let reader: StackReader
    package let observer: StackConfiguration.Instance
    private let stack: Stack

    package init(_ stack: Stack, _ reader: StackReader) throws {
        (self.stack, self.reader) = (stack, reader)
        observer = try stack.instance(.observer)
    }

    /// `StackReader.all`, of the observer.
    package func all<Asked: Query, Position>(
        _ query: (Position?) -> Asked, next: KeyPath<Asked.Answer, Position?>, while goesOn: () -> Bool = { true },
        _ take: (Asked.Answer) throws -> Void
    ) throws { try reader.all(observer, query, next: next, while: goesOn, take) }

    /// For all users.
    package func timelines() throws -> [String: ZoneTimeline] {
        var users: [String: Value] = [:]
        let pages = try reader.pages(observer, .zones, PullPlace(after: .beginning))
        for page in pages { users.merge(page.zones) { $1 } }
        return try users.compactMapValues { try ZoneTimeline(wireValue: $0) }
    }

    /// - Throws: `Failure` that names the users if this one is unknown.
    package func zones(of user: String) throws -> ZoneTimeline {
        let users = try timelines()
        if let zones = users[user] { return zones }
        guard !users.isEmpty else {
            throw Failure(
                "nothing has been stored in \(stack.place) yet", hint: try NothingYet.advice(stack, reader, user: user))
        }
        let names = users.keys.sorted()
        throw Failure.usage(
            "there is no user '\(user)'", hint: Nearest.hint(for: user, among: names, else: Nearest.users(names)))
    }

    /// The samples in a handler's slice from `from` to `to`, in canonical order.
    /// - Parameters:
    ///   - detailed: types whose payloads and creation dates are wanted too.
    ///   - during: for each type that is wanted only during samples of another type, that other type.
    package func samples(
        user: String, types: [String], from: Instant, to: Instant, detailed: Set<String> = [],
        during: [String: String] = [:]
    ) throws -> SamplePage {
        var samples = SamplePage()
        try forEachPage(user: user, types: types, from: from, to: to, detailed: detailed, during: during) {
            samples.append($0)
        }
        return samples
    }

    /// The same, page by page.
    package func forEachPage(
        user: String, types: [String], from: Instant, to: Instant, detailed: Set<String>,
        during: [String: String] = [:], _ body: (SamplePage) throws -> Void
    ) throws {
        try forEachPage(
            SliceRequest(
                user: user, types: .only(types), asOf: AnchorVector(base: .end), from: from, to: to,
                detailed: .list(detailed.sorted()), payloads: Self.payloadTypes, during: during),
            body)
    }

    /// - Parameter goesOn: called before each further request; returns whether to continue.
    package func forEachPage(
        _ slice: SliceRequest, while goesOn: () -> Bool = { true }, _ body: (SamplePage) throws -> Void
    ) throws {
        func query(_ place: SlicePlace?) -> SliceRequest {
            var slice = slice
            slice.continue = place
            return slice
        }
        try all(query, next: \SlicePage.continue, while: goesOn) { try body($0.samples) }
    }

    /// The types that the store holds for a user.
    package func types(of user: String) throws -> Set<String> {
        let pages = try reader.pages(observer, .types)
        return Set(pages.flatMap(\.types).filter { $0.user == user }.map(\.type))
    }

    /// Which days have samples, and which samples arrived late, by user and type.
    /// - Parameter nights: the hour at which a night ends, by type.
    package func completeness(user: String?, nights: [String: Int64]) throws -> [TypeDays] {
        var found: [TypeDays] = []
        try all({ .completeness(user: user, nights: nights, after: $0) }, next: \CompletenessPage.continue) { page in
            for row in page.types {
                guard let next = TypeDays(row) else {
                    throw StageError.unreadablePage(producer: observer.name)
                }
                if found.last?.user == next.user, found.last?.type == next.type {
                    found[found.count - 1].append(next)
                } else {
                    found.append(next)
                }
            }
        }
        return found
    }

    /// Apple's figures by date, in order.
    package func summaries(
        user: String, from: LocalDay, to: LocalDay, _ body: (_ date: LocalDay, _ figures: Value) -> Void
    ) throws {
        try all(
            {
                .summaries(user: user, from: $0 ?? from.description, to: to.description)
            }, next: \SummariesPage.continue
        ) { page in
            for row in page.summaries { if let date = LocalDay(row.date) { body(date, row.figures) } }
        }
    }

    /// Files kept beside the samples, by number.
    package func documents(user: String?) throws -> [DocumentRow] {
        var found: [DocumentRow] = []
        try all({ .documents(user: user, after: $0) }, next: \DocumentsPage.continue) { found += $0.documents }
        return found
    }

    package func quarantined(user: String) throws -> [(reason: String, count: Int64)] {
        let pages = try reader.pages(observer, .quarantine(user: user))
        return pages.flatMap(\.reasons).map { ($0.reason, $0.count) }
    }
}

extension StackConfiguration {
    /// The handler that computes figures from a type.
    package func handler(of type: String) -> Instance? {
        handlers.first { $0.manifest.typesWithStatistics.contains(type) }
            ?? handlers.first { $0.manifest.types.contains("*") }
    }

    /// Types whose days are nights, with the hour of the local clock at which one ends.
    package var nights: [String: Int64] {
        var nights: [String: Int64] = [:]
        for handler in handlers {
            guard let hour = handler.configuration["windowHour"].int else { continue }
            for type in handler.manifest.types { nights[type] = hour }
        }
        return nights
    }
}
