import HealthModel
import Protocol

/// What is known about the backend that deliveries go to. It is stored in the same transaction as whatever it was
/// learned from.
package struct KnownBackend: Sendable, Equatable {
    /// The address that it answered at or, before its first answer, the configured one; nil in files from earlier
    /// releases.
    package var address: String?
    package var generation: String?
    var sequence: Int64?
    /// How many elements this generation has said it created; it must hold at least that many.
    var created: Int64 = 0
    /// Generations that answered before the current one, newest last.
    var former: [String] = []
    package var redeliveries = Redeliveries()
    /// The wall-clock time when the backend was last compared with what was delivered.
    var compared: Instant?
    var result: Result?
    /// How many elements were missing when the backend was last found to lack any; nil if unknown.
    var missing: Int64?

    package typealias Result = UploaderDetails.Backend.Result

    private static let formerLimit = 8

    package init() {}

    /// Continues with a different database, which the backend now has.
    package mutating func follow(_ other: String?, sequence: Int64?) {
        if let generation, generation != other {
            former.removeAll { $0 == generation }
            former = (former + [generation]).suffix(Self.formerLimit)
        }
        former.removeAll { $0 == other }
        generation = other
        self.sequence = sequence
        created = 0
    }

    /// Accepts an answer of the known generation. Answers may arrive out of order, but none lowers the sequence.
    package mutating func answered(sequence new: Int64?, created more: Int64) {
        if let new { sequence = max(sequence ?? new, new) }
        let (sum, isTooMuch) = created.addingReportingOverflow(more)
        if !isTooMuch { created = sum }
    }
}

/// How often everything was redelivered recently; a backend that keeps needing it is faulty.
package struct Redeliveries: Codable, Sendable, Equatable {
    var count: Int64 = 0
    /// By the wall clock.
    var last = Instant.epoch

    /// This many redeliveries begin without delay.
    private static let free: Int64 = 3
    private static let longest = Duration.seconds(86_400)

    /// The earliest time for another redelivery, by the wall clock.
    var next: Instant {
        guard count >= Self.free else { return last }
        return last + BackOff(Duration.seconds(600), upTo: Self.longest, failures: Int(count - Self.free)).wait
    }

    func mayBegin(at now: Instant) -> Bool {
        // A clock that was set back must not delay the redelivery for years.
        count < Self.free || now < last || now >= next
    }

    package mutating func begin(at now: Instant) {
        if now - last > Self.longest { count = 0 }
        count += 1
        last = now
    }
}

extension KnownBackend: Codable {
    private enum CodingKeys: CodingKey {
        case address, generation, sequence, created, former, redeliveries, compared, result, missing
    }

    /// Files from earlier releases lack some of these members.
    package init(from decoder: any Decoder) throws {
        self.init()
        let kept = try decoder.container(keyedBy: CodingKeys.self)
        address = try kept.decodeIfPresent(String.self, forKey: .address)
        generation = try kept.decodeIfPresent(String.self, forKey: .generation)
        sequence = try kept.decodeIfPresent(Int64.self, forKey: .sequence)
        created = try kept.decodeIfPresent(Int64.self, forKey: .created) ?? 0
        former = try kept.decodeIfPresent([String].self, forKey: .former) ?? []
        redeliveries = try kept.decodeIfPresent(Redeliveries.self, forKey: .redeliveries) ?? Redeliveries()
        compared = try kept.decodeIfPresent(Instant.self, forKey: .compared)
        result = try kept.decodeIfPresent(Result.self, forKey: .result)
        missing = try kept.decodeIfPresent(Int64.self, forKey: .missing)
    }
}
