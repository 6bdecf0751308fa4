import Changelog
import Client
import Configuration
import Foundation
import HealthModel
import Logging
import Protocol
import StageKit

/// What a replay would do: which days, of whom, and how much of it. Changes nothing.
package struct ReplayPlan {
    package enum Start: Sendable, Equatable {
        case day(LocalDay)
        /// A sequence of the observer's.
        case sequence(Int64)
    }

    private let stack: Stack
    private let reader: StackReader
    private let observing: ObserverQueries
    package let instance: StackConfiguration.Instance
    private let zones: [String: ZoneTimeline]
    /// Local dates, both included; nil for a sequence.
    package let days: ClosedRange<LocalDay>?
    private let since: Int64?
    private let types: Value

    /// - Throws: `Failure` for what can't be replayed, and for times without samples.
    package init(
        _ stack: Stack, instance: StackConfiguration.Instance, from start: Start, through end: LocalDay?, user: String?,
        now: Instant
    ) throws {
        self.stack = stack
        self.instance = instance
        reader = stack.reader()
        observing = try ObserverQueries(stack, reader)
        let kind = instance.manifest.kind
        guard kind == .handler || kind == .consolidator || kind == .uploader else {
            throw Failure.usage(
                "\(instance.name) computes and delivers nothing that could be replayed",
                hint: "replay a handler, the consolidator or the uploader")
        }
        types =
            kind != .handler
            ? ["exclude": [.string(HealthType.workoutIdentifier)]]
            : instance.manifest.types.contains("*")
                ? ["exclude": .array(stack.configuration.namedTypes.sorted().map { .string($0) })]
                : ["include": .array((instance.manifest.types + instance.manifest.reads).map { .string($0) })]
        var zones = try observing.allZones()
        if let user { zones = [user: try observing.zones(of: user)] }
        self.zones = zones
        if case .sequence(let sequence) = start {
            guard kind != .consolidator else {
                throw Failure.usage(
                    "a sequence is one store's, and the consolidator follows every handler's", hint: "give a date")
            }
            guard end == nil, user == nil else {
                throw Failure.usage("a replay from a sequence has no --to and no --user", hint: "give a date")
            }
            since = sequence
            days = nil
            return
        }
        since = nil
        guard case .day(let from) = start, let span = try observing.span(of: Array(zones.keys), zones) else {
            throw Failure(
                "nothing has been stored on \(stack.place) yet", hint: "'healthbus import FILE' brings some")
        }
        // Days without any sample have nothing to compute; the one after the last may hold the end of its night.
        let first = max(from, span.lowerBound)
        let last = min(end ?? span.upperBound.adding(days: 1), span.upperBound.adding(days: 1))
        guard first <= last else {
            throw Failure.usage(
                "there are no samples in that time", hint: "they are from \(span.lowerBound) to \(span.upperBound)")
        }
        days = first...last
    }

    /// Members of the request.
    package var members: [String: Value] {
        guard let days else { return ["since": .integer(since ?? 0)] }
        return [
            "from": .string(days.lowerBound.description), "through": .string(days.upperBound.description),
            "users": Value(ReplayUsers.spans(from: days.lowerBound, through: days.upperBound, zones)),
        ]
    }

    package struct Count: Sendable, Equatable {
        package var days: Int
        /// Of a handler: its figures and events of these days; of the consolidator: the handlers' figures that it takes in; of the uploader: what it sends.
        package var rows: Int
    }

    /// How much it is, read page by page by the questions that it would ask.
    package func count() throws -> Count {
        if let since { return try count(since: since) }
        guard let days else { return Count(days: 0, rows: 0) }
        let range = days.lowerBound.number...days.upperBound.number
        var count = Count(days: range.count, rows: 0)
        switch instance.manifest.kind {
        case .handler: count.rows = try rows(of: instance, topic: "", range)
        case .consolidator:
            for handler in stack.configuration.handlers {
                count.rows += try rows(of: handler, topic: "figures.", range)
            }
        default:
            for (user, span) in ReplayUsers.spans(from: days.lowerBound, through: days.upperBound, zones) {
                guard let start = span.first, let end = span.last else { continue }
                count.rows += try observing.count(user: user, types: types, from: start, to: end)
            }
            for handler in stack.configuration.handlers
            where handler.manifest.produces.contains(where: { $0.hasPrefix("events.") }) {
                count.rows += try rows(of: handler, topic: "events.", range)
            }
            if let consolidator = stack.configuration.only(.consolidator) {
                count.rows += try rows(of: consolidator, topic: "daily.summary", range)
            }
        }
        return count
    }

    private func rows(
        of producer: StackConfiguration.Instance, topic: String, _ days: ClosedRange<Int>
    ) throws -> Int {
        var count = 0
        try reader.forEachRow(producer, topic: topic, days: days) { row in
            if zones[row.user] != nil, row.body != nil || instance.manifest.kind == .uploader { count += 1 }
        }
        return count
    }

    private func count(since: Int64) throws -> Count {
        var touched: Set<String> = []
        var rows = 0
        try observing.changes(types: types, since: since) { page in
            let samples = try SamplePage(wireValue: page["samples"])
            let users = (page["users"].array ?? []).compactMap(\.string)
            let user = page["user"].int32s ?? []
            rows += samples.count
            for row in 0..<min(samples.count, user.count) where users.indices.contains(Int(user[row])) {
                let name = users[Int(user[row])]
                let (start, end) = (samples.start[row], samples.end[row])
                let counted = SampleTimes.countedEnd(start: start, duration: end &- start)
                for day in zones[name]?.days(touching: start, end: counted) ?? [] {
                    touched.insert("\(name)/\(day)")
                }
            }
        }
        return Count(days: touched.count, rows: rows)
    }
}

extension ObserverQueries {
    func allZones() throws -> [String: ZoneTimeline] {
        var zones: [String: ZoneTimeline] = [:]
        for page in try reader.pages(observer, ["query": "zones", "after": 0, "until": .integer(.max)]) {
            for (user, entries) in page["zones"].object ?? [:] {
                zones[user] = try ZoneTimeline(wireValue: entries)
            }
        }
        return zones
    }

    /// The days from the first sample to the last; nil without any.
    func span(of users: [String], _ zones: [String: ZoneTimeline]) throws -> ClosedRange<LocalDay>? {
        var span: ClosedRange<LocalDay>?
        for row in try reader.pages(observer, ["query": "types"]).flatMap({ $0["types"].array ?? [] }) {
            guard let user = row["user"].string, users.contains(user), let timeline = zones[user],
                let first = row["firstStart"].int, let last = row["lastEnd"].int
            else { continue }
            let days = timeline.day(of: first)...timeline.day(of: max(first, last))
            span = span.map { min($0.lowerBound, days.lowerBound)...max($0.upperBound, days.upperBound) } ?? days
        }
        return span
    }

    /// How many living samples overlap a time.
    func count(user: String, types: Value, from: Instant, to: Instant) throws -> Int {
        var query: [String: Value] = [
            "query": "slice", "user": .string(user), "types": types, "asOf": .integer(.max), "from": .integer(from),
            "to": .integer(to), "detailed": [],
        ]
        var count = 0
        while true {
            let pages = try reader.pages(observer, query)
            for page in pages { count += try SamplePage(wireValue: page["samples"]).count }
            guard let next = pages.last?["continue"], !next.isNull else { return count }
            query["continue"] = next
        }
    }

    /// Pages of what has changed since a sequence.
    func changes(types: Value, since: Int64, _ body: (Value) throws -> Void) throws {
        let head = try reader.pages(observer, ["query": "types"]).last?["head"].read(StoreHead.self)
        var after = since
        while true {
            let pages = try reader.pages(
                observer,
                [
                    "query": "samples", "types": types, "store": Value(head?.store),
                    "generation": Value(head?.generation), "after": .integer(after),
                    "until": .integer(head?.sequence ?? .max),
                ])
            for page in pages { try body(page) }
            guard let through = pages.last?["through"].int, through > after else { return }
            after = through
            if let head, after >= head.sequence { return }
        }
    }
}
