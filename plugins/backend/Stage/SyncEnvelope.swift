import HTTP
import HealthModel
import JSON
import Protocol

/// The parts of a sync request's body. Spans point into the body.
struct SyncEnvelope {
    /// nil when the sender names no user.
    var user: String?
    var device: JSONSpan?
    /// nil when the sender didn't say.
    var syncedAt: Instant?
    var lists: [(list: SyncList, elements: JSONSpan)] = []

    /// The maximum number of elements in one request, across all lists.
    static let elementLimit = SampleDelivery.elementLimit

    /// Checks the grammar of the whole body before any of it is used.
    /// - Throws: `JSONScanError`, `SyncRefusal`.
    init(_ body: UnsafeRawBufferPointer, metric: SyncMetric) throws {
        var scanner = JSONScanner(body)
        try scanner.beginObject()
        var elements = 0
        while let name = try scanner.nextMember() {
            if let list = SyncList.allCases.first(where: { name == $0.name }) {
                guard metric.lists.contains(list) else { throw SyncRefusal.misplaced(list, metric) }
                guard scanner.nextIsArray() else { throw SyncRefusal.malformed("\(list.rawValue) isn't an array") }
                let array = try scanner.countedArray()
                elements += array.count
                if elements > Self.elementLimit { throw SyncRefusal.tooMany }
                lists.append((list, array.span))
            } else {
                try take(name, scanner.value())
            }
        }
        try scanner.end()
        if lists.isEmpty {
            let names = metric.lists.map(\.rawValue).joined(separator: ", ")
            throw SyncRefusal.malformed("none of \(names) is present")
        }
    }

    /// Checks what is there besides the elements. A JSON body passes only the user: the rest is checked as it is read.
    static func check(user: String?, device: String? = nil, syncedAt: Instant? = nil) throws {
        if let user, user.isEmpty || user.utf8.count > 200 { throw unreadableUser }
        if let device, device.utf8.count > deviceLimit { throw unreadableDevice }
        if let syncedAt, !SampleColumns.times.contains(syncedAt.microseconds) {
            throw SyncRefusal.malformed("syncedAt isn't within the years 0 to 9999")
        }
    }

    private static let deviceLimit = 1000
    private static let unreadableUser = SyncRefusal.malformed("userId isn't text of 1 to 200 bytes")
    private static let unreadableDevice = SyncRefusal.malformed("deviceId isn't short text")

    private mutating func take(_ name: JSONSpan, _ value: JSONSpan) throws {
        if name == "userId", !value.isNull {
            guard let text = value.text else { throw Self.unreadableUser }
            try Self.check(user: text)
            user = text
        } else if name == "deviceId", !value.isNull {
            guard value.isString, value.bytes.count <= Self.deviceLimit else { throw Self.unreadableDevice }
            device = value
        } else if name == "syncedAt", !value.isNull {
            // A number means seconds since 1970, which some apps send.
            let date =
                value.isString
                ? value.instant
                : value.double.flatMap {
                    $0.magnitude < 1e12 ? Instant(microseconds: Int64($0 * 1_000_000)) : nil
                }
            guard let date else {
                throw SyncRefusal.malformed("syncedAt is neither an ISO 8601 date nor seconds since 1970")
            }
            try Self.check(user: nil, syncedAt: date)
            syncedAt = date
        }
    }
}

/// The arrays of elements in bodies.
enum SyncList: String, CaseIterable {
    case samples, workouts, nights, days, deleted, deletedNights

    var deletes: Bool { self == .deleted || self == .deletedNights }

    var name: StaticString {
        switch self {
        case .samples: "samples"
        case .workouts: "workouts"
        case .nights: "nights"
        case .days: "days"
        case .deleted: "deleted"
        case .deletedNights: "deletedNights"
        }
    }
}

/// The last part of a sync path.
enum SyncMetric: Equatable {
    case workouts, daily, sleep
    /// A family that only has samples.
    case samples(String)

    /// nil for a name that isn't a metric here.
    /// - Parameter families: those of the stack, besides "other".
    init?(_ name: String, families: Set<String>) {
        switch name {
        case "workouts": self = .workouts
        case "daily": self = .daily
        case "sleep": self = .sleep
        default:
            guard name == "other" || families.contains(name) else { return nil }
            self = .samples(name)
        }
    }

    var name: String {
        switch self {
        case .workouts: "workouts"
        case .daily: "daily"
        case .sleep: "sleep"
        case .samples(let family): family
        }
    }

    var lists: [SyncList] {
        switch self {
        case .workouts: [.workouts, .deleted]
        case .daily: [.days, .deleted]
        case .sleep: [.samples, .nights, .deleted, .deletedNights]
        case .samples: [.samples, .deleted]
        }
    }

    /// What this metric's list contains; nil for samples.
    func documentKind(_ list: SyncList) -> DocumentKind? {
        switch list {
        case .workouts: .workout
        case .days: .day
        case .nights, .deletedNights: .night
        case .samples: nil
        case .deleted: self == .workouts ? .workout : self == .daily ? .day : nil
        }
    }
}

/// Why a request as a whole is refused.
enum SyncRefusal: Error {
    case malformed(String)
    case misplaced(SyncList, SyncMetric)
    case tooMany
    case noColumns(SyncMetric)
    case unknownParameter(String, known: [String])
    /// A cursor from which nobody can continue.
    case gone
    case noChanges

    var answer: HTTPResponse {
        switch self {
        case .malformed(let reason): .problem(400, reason, "see docs/backend.md")
        case .misplaced(let list, let metric):
            .problem(
                400, "\(list.rawValue) don't belong to /api/v1/sync/\(metric.name)", "send them to their own path")
        case .tooMany:
            .problem(413, "more than \(SyncEnvelope.elementLimit) elements", "send fewer elements in one request")
        case .noColumns(let metric):
            .problem(415, "/api/v1/sync/\(metric.name) accepts only JSON", "send application/json")
        case .gone:
            .problem(
                410, "'cursor' is from another history of this database, from another user or list, or too old",
                "begin again without 'cursor', and drop what that doesn't bring")
        case .noChanges:
            .problem(501, "a backend on PostgreSQL doesn't list changes", "follow the stack's own: see docs/sync.md")
        case .unknownParameter(let name, let known):
            .problem(400, "\(name.prefix(40)) isn't a parameter of this path", "use \(known.joined(separator: ", "))")
        }
    }
}

extension HTTPResponse {
    /// An error response: what happened and what to do.
    static func problem(_ status: Int, _ error: String, _ hint: String, headers: HTTPHeaders = [:]) -> HTTPResponse {
        var out: [UInt8] = []
        out.append(json: "{\"error\":")
        out.append(jsonString: error)
        out.append(json: ",\"hint\":")
        out.append(jsonString: hint)
        out.append(json: "}")
        return HTTPResponse(status: status, json: out, headers: headers)
    }
}
