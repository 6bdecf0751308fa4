import Changelog
import Client
import Configuration
import HealthModel
import Logging
import Protocol

/// What commands ask the observer, whether it runs or not.
struct ObserverQueries {
    let reader: StackReader
    let observer: StackConfiguration.Instance

    init(_ stack: Stack, _ reader: StackReader) throws {
        self.reader = reader
        observer = try stack.instance(.observer)
    }

    /// Asks on while the answer has more to come.
    private func all(_ query: [String: Value], _ take: (Value) throws -> Void) throws {
        var query = query
        while true {
            let pages = try reader.pages(observer, query)
            for page in pages { try take(page) }
            guard let next = pages.last?["continue"], !next.isNull else { return }
            query["continue"] = next
        }
    }

    /// - Throws: `Failure` that names the users when this one isn't known.
    func zones(of user: String) throws -> ZoneTimeline {
        var users: [String: Value] = [:]
        try all(["query": "zones", "after": 0, "until": .integer(.max)]) { page in
            users.merge(page["zones"].object ?? [:]) { $1 }
        }
        if let zones = try users[user].flatMap({ try ZoneTimeline(wireValue: $0) }) { return zones }
        guard !users.isEmpty else {
            throw Failure(
                "nothing has been stored on \(reader.state.path) yet", hint: "'healthbus import FILE' brings some")
        }
        throw Failure.usage(
            "there is no user '\(user)'", hint: "there are: \(users.keys.sorted().joined(separator: ", "))")
    }

    /// The living samples that a handler's slice of these ranges holds, in canonical order.
    /// - Parameters:
    ///   - detailed: types of which bodies and dates of creation are wanted too.
    ///   - during: types that are wanted only during samples of another, by that one.
    func samples(
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
    func forEachPage(
        user: String, types: [String], from: Instant, to: Instant, detailed: Set<String>,
        during: [String: String] = [:], _ body: (SamplePage) throws -> Void
    ) throws {
        var query: [String: Value] = [
            "query": "slice", "user": .string(user), "types": ["include": .array(types.map { .string($0) })],
            "asOf": .integer(.max), "from": .integer(from), "to": .integer(to),
            "detailed": .array(detailed.sorted().map { .string($0) }),
            "payloads": ["HKQuantityTypeIdentifierHeartRate"],
        ]
        if !during.isEmpty { query["during"] = .object(during.mapValues { .string($0) }) }
        try all(query) { try body(try SamplePage(wireValue: $0["samples"])) }
    }

    /// The types that the store holds of a user.
    func types(of user: String) throws -> Set<String> {
        var types: Set<String> = []
        try all(["query": "types"]) { page in
            for row in page["types"].array ?? [] where row["user"].string == user {
                if let type = row["type"].string { types.insert(type) }
            }
        }
        return types
    }

    /// By user and type which days have samples, and late arrivals.
    /// - Parameter nights: hour at which a night ends, by type.
    func completeness(user: String?, nights: [String: Int64]) throws -> [TypeDays] {
        var found: [TypeDays] = []
        let query: [String: Value] = [
            "query": "completeness", "user": Value(user), "nights": .object(nights.mapValues { .integer($0) }),
        ]
        try all(query) { page in
            for row in page["types"].array ?? [] {
                guard let next = TypeDays(wireValue: row) else {
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
    func summaries(
        user: String, from: LocalDay, to: LocalDay, _ body: (_ date: LocalDay, _ figures: Value) -> Void
    ) throws {
        var first: Value = .string(from.description)
        while true {
            let pages = try reader.pages(
                observer,
                ["query": "summaries", "user": .string(user), "from": first, "to": .string(to.description)])
            for row in pages.flatMap({ $0["summaries"].array ?? [] }) {
                if let date = row["date"].string.flatMap({ LocalDay($0) }) { body(date, row["figures"]) }
            }
            guard let next = pages.last?["continue"], !next.isNull else { return }
            first = next
        }
    }

    func quarantined(user: String) throws -> [(reason: String, count: Int64)] {
        try reader.pages(observer, ["query": "quarantine", "user": .string(user)]).flatMap { page in
            (page["reasons"].array ?? []).compactMap { row in
                row["reason"].string.flatMap { reason in row["count"].int.map { (reason, $0) } }
            }
        }
    }
}

extension StackConfiguration {
    /// The handler whose figures a type is in.
    func handler(of type: String) -> Instance? {
        handlers.first { $0.manifest.types.contains(type) } ?? handlers.first { $0.manifest.types.contains("*") }
    }

    /// Types whose days are nights, with the hour of the local clock at which one ends.
    var nights: [String: Int64] {
        var nights: [String: Int64] = [:]
        for handler in handlers {
            guard let hour = handler.configuration["windowHour"].int else { continue }
            for type in handler.manifest.types { nights[type] = hour }
        }
        return nights
    }
}
