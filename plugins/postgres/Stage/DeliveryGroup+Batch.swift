import DeliveryKit
import HealthModel
import PostgresStore

extension DeliveryGroup {
    /// The batch to write for some elements.
    package func batch(_ part: Range<Int>) throws -> PostgresBatch {
        switch content {
        case .samples(let page): PostgresBatch(user: user, samples: page, rows: part)
        case .workouts(let all): PostgresBatch(user: user, documents: all[part].map { $0.written(as: .workout) })
        case .nights(let all): PostgresBatch(user: user, documents: all[part].map { $0.written(as: .night) })
        case .days(let all): PostgresBatch(user: user, documents: all[part].map { $0.written(as: .day) })
        }
    }
}

extension DeliveryGroup.Document {
    fileprivate func written(as kind: PostgresDocument.Kind) -> PostgresDocument {
        func time(_ member: String) -> Instant? { body?[member].string.flatMap { InstantText.parse($0) } }
        let start =
            switch kind {
            case .day: nil as Instant?
            case .night: time("start")
            case .workout: time("startDate")
            }
        let end = kind == .night ? time("end") : kind == .workout ? time("endDate") : nil
        let day = kind == .day ? id : kind == .night ? body?["date"].string : nil
        return PostgresDocument(
            kind: kind, id: id, version: version,
            body: body.flatMap { DeliveryDocument.versioned($0, version)?.json() }, start: start, end: end ?? start,
            date: day.flatMap { LocalDay($0) })
    }
}

extension DeliveryAnswer {
    /// What the store did with a request's elements.
    package init(_ outcome: PostgresOutcome, _ request: DeliveryRequest) {
        let refused = outcome.refused.sorted { $0.key < $1.key }.map { place, reason in
            Refusal(
                id: request.group.element(request.part.lowerBound + place).id, index: nil, reason: reason)
        }
        self.init(
            counts: Counts(
                created: outcome.created, updated: outcome.updated, known: outcome.known,
                refused: Int64(refused.count)),
            refused: refused, conflicts: outcome.conflicts, generation: outcome.identity.generation,
            sequence: outcome.identity.sequence)
    }
}
