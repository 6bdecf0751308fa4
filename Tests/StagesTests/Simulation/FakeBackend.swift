import DeliveryKit
import HTTP
import HealthModel
import StageKit
import UploaderStage

/// A backend in memory: a versioned upsert that keeps tombstones, and counts how often each (id, version) was accepted
/// as new.
struct FakeBackend {
    struct Key: Hashable {
        var user: String
        /// "samples", "nights", "days", "workouts".
        var kind: String
        var id: String

        init(user: String, kind: String, id: String) { (self.user, self.kind, self.id) = (user, kind, id) }
    }

    struct Entry: Equatable {
        var version: Int64
        /// The content without the version; nil for a tombstone.
        var content: Value?

        init(version: Int64, content: Value?) { (self.version, self.content) = (version, content) }
    }

    private struct Acceptance: Hashable {
        var key: Key
        var version: Int64
    }

    private(set) var entries: [Key: Entry] = [:]
    private var accepted: [Acceptance: Int] = [:]
    private(set) var generation = 1
    /// Rises with each request that changes anything.
    private var sequence: Int64 = 0
    private var created: Int64 = 0
    /// Which samples it never accepts.
    var refuses: (Value) -> Bool = { _ in false }
    /// Those that it was sent.
    private(set) var refused: Set<Key> = []

    init() {}

    /// How many (id, version) pairs changed something more than once.
    var acceptedTwice: Int { accepted.values.count { $0 > 1 } }

    /// Loses the backend's machine; a different, empty one takes its place.
    mutating func replace(by generation: Int) {
        entries = [:]
        accepted = [:]
        (sequence, created) = (0, 0)
        self.generation = generation
    }

    /// Changes an element behind everybody's back; nil removes it.
    mutating func overwrite(_ key: Key, _ entry: Entry?) { entries[key] = entry }

    /// Whether it was once sent, and is deleted now.
    func isDeleted(_ key: Key) -> Bool { entries[key].map { $0.content == nil } ?? false }

    /// The living elements of a kind.
    func alive(_ kind: String) -> [Key: Value] {
        entries.compactMapValues(\.content).filter { $0.key.kind == kind }
    }

    /// Stores a request's elements.
    /// - Throws: an error if the body isn't JSON.
    mutating func take(_ request: DeliveryRequest) throws -> UploadReply {
        let body = try Value(json: request.body)
        let user = body["userId"].string ?? ""
        var counts = (created: Int64(0), updated: Int64(0), known: Int64(0))
        var refusals: [Value] = []
        func put(_ entries: inout [Key: Entry], _ accepted: inout [Acceptance: Int], _ key: Key, _ entry: Entry) {
            let before = entries[key]
            // A deletion wins over the same version.
            let isDeletion = entry.content == nil && before?.content != nil
            guard entry.version > before?.version ?? .min || isDeletion && entry.version == before?.version else {
                counts.known += 1
                return
            }
            entries[key] = entry
            accepted[Acceptance(key: key, version: entry.version), default: 0] += 1
            if before == nil { counts.created += 1 } else { counts.updated += 1 }
        }
        for kind in ["samples", "workouts", "nights", "days"] {
            for element in body[kind].array ?? [] {
                if kind == "samples", refuses(element) {
                    refusals.append(["id": element["id"], "reason": "not with me"])
                    refused.insert(Key(user: user, kind: kind, id: element["id"].string ?? ""))
                    continue
                }
                var members = element.object ?? [:]
                let version = members.removeValue(forKey: "version")?.int ?? 0
                let id = (kind == "days" ? members["date"] : members["id"])?.string ?? ""
                put(
                    &entries, &accepted, Key(user: user, kind: kind, id: id),
                    Entry(version: version, content: .object(members)))
            }
        }
        let deletedKind =
            switch request.path {
            case DeliveryMetric.daily.path: "days"
            case DeliveryMetric.workouts.path: "workouts"
            default: "samples"
            }
        for (list, kind) in [("deleted", deletedKind), ("deletedNights", "nights")] {
            for element in body[list].array ?? [] {
                put(
                    &entries, &accepted, Key(user: user, kind: kind, id: element["id"].string ?? ""),
                    Entry(version: element["version"].int ?? 0, content: nil))
            }
        }
        if counts.created + counts.updated > 0 { sequence += 1 }
        created += counts.created
        let answer: Value = [
            "sequence": .integer(sequence),
            "counts": [
                "created": .integer(counts.created), "updated": .integer(counts.updated),
                "known": .integer(counts.known), "refused": .integer(Int64(refusals.count)),
            ],
            "refused": .array(refusals), "held": [:], "generation": .string("generation-\(generation)"),
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }

    /// What it holds, in the form of the reference backend's `stats`.
    var holdings: UploadReply {
        let answer: Value = [
            "generation": .string("generation-\(generation)"), "sequence": .integer(sequence),
            "samples": ["alive": .integer(Int64(entries.count)), "deleted": 0],
            "counters": ["created": .integer(created)],
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }
}

extension FakeBackend {
    /// A page of what it keeps, in the form of the reference backend's `versions`: by id, those that aren't UUIDs first.
    func versions(_ question: HeldQuestion) -> UploadReply {
        let first = question.query["cursor"]
        let rows = entries.filter { $0.key.user == question.user && $0.key.kind == question.list.rawValue }
            .sorted { Self.order($0.key.id) < Self.order($1.key.id) }
            .filter { row in first.map { Self.order($0) < Self.order(row.key.id) } ?? true }
        let page = rows.prefix(question.limit)
        let answer: Value = [
            "generation": .string("generation-\(generation)"), "sequence": .integer(sequence),
            "ids": .array(page.map { .string($0.key.id) }), "versions": .array(page.map { .integer($0.value.version) }),
            "deleted": .array(page.map { $0.value.content == nil ? 1 : 0 }),
            "contents": .array(page.map { .integer(Self.number(of: $0.value, in: question.list)) }),
            "nextCursor": Value(page.count < rows.count ? page.last?.key.id : nil),
        ]
        return .answered(status: 200, body: Array(answer.json().utf8))
    }

    private static func order(_ id: String) -> String { (SampleID(id) == nil ? "0" : "1") + id }

    /// 0 for a tombstone.
    private static func number(of entry: Entry, in list: HeldList) -> Int64 {
        guard let content = entry.content, var members = content.object else { return 0 }
        guard list == .samples else {
            members["version"] = .integer(entry.version)
            return Int64(ContentNumber.text(Value.object(members).json()) >> 1)
        }
        func text(_ name: String) -> String { content[name].string ?? "" }
        func time(_ name: String) -> Instant { InstantText.parse(text(name)) ?? .epoch }
        return ContentNumber.sample(
            type: ContentNumber.text(text("type")), start: time("startDate"), end: time("endDate"),
            value: content["value"].double, source: ContentNumber.text(text("source")))
    }
}
