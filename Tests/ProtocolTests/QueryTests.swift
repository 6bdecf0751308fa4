import Foundation
import HealthModel
import Protocol
import TestSupport
import Testing

/// Requests as they travel over the bus: valid ones are understood, and others are refused with an explanation of what
/// is missing.
@Suite struct QueryTests {
    private static let slice = SliceRequest(
        user: "me", types: .only(["a"]), asOf: AnchorVector(base: 7, exceptions: ["a": 5]), from: 1, to: 9,
        detailed: .list(["a"]), payloads: ["b"], during: ["a": "b"], continue: SlicePlace(start: 3, id: "x"))
    private static let all: [any Query] = [
        .changes(), .changes(topic: "events.", days: 3...4), .day(user: "me", day: 4, topic: "figures."),
        .moments(from: 1, to: 2), .newest(before: 5), .samples(.allExcept(["w"])),
        .samples(.only(["a"]), predicate: ["from": 3]), .spans(.allExcept([])), .slice(slice), .zones,
        .timeline(user: "me"), .imports(), .imports(id: "i"), .file(id: "i", offset: 4), .delivery, .types,
        .completeness(user: nil, nights: ["a": 18]),
        .completeness(user: "me", nights: [:], after: TypePosition(user: "me", type: "a")),
        .summaries(user: "me", from: "2025-01-01", to: "2025-01-02"), .sample("x"), .quarantine(user: "me"),
        .quarantined(RepairSelection(numbers: [1]), user: "me", record: true, after: 3),
        .entries(user: "me"), .entries(user: "me", event: "5f0c"), .documents(), .documents(user: "me", after: 4),
        .document(3, offset: 9), .sources(), .sources(user: "me", after: 4),
        .letters(RepairSelection(reason: "r", type: "t"), after: 4),
        .letters(RepairSelection(), dropped: true), .conflicts(), .conflicts(after: 4), .proof(after: 4),
        Renewal(above: 4, rows: [[1, 2]]),
    ]

    @Test func whatIsAskedIsHeard() throws {
        for query in Self.all {
            let asked = Question(query, PullPlace(store: "s", generation: "g", after: .beginning, bulk: true))
            let heard = try Question(members: .object(asked.members), among: [type(of: query)])
            #expect(heard == asked && isSame(heard.query, query), "\(query)")
        }
    }

    private func isSame<Asked: Query>(_ one: any Query, _ other: Asked) -> Bool { one as? Asked == other }

    /// A query with an own type but the name of another would get that one's answers.
    @Test func eachQueryIsInTheSchema() throws {
        let schema = try String(contentsOfFile: SchemaChecker.checkout + "/docs/protocol.cddl", encoding: .utf8)
        let named = schema.matches(of: #/"query": "(\w+)"/#).map { String($0.output.1) }
        #expect(Set(Self.all.map(\.name)) == Set(named) && Set(named).count == named.count)
    }

    @Test func membersHaveTheirNames() {
        #expect(
            Question(ChangesQuery.changes(topic: "a.", days: 3...4)).members == [
                "query": "changes", "topic": "a.", "days": [3, 4],
            ])
        #expect(
            Question(SamplesQuery.samples(.allExcept(["w"])), PullPlace(after: 2)).members == [
                "query": "samples", "types": ["exclude": ["w"]], "after": 2, "until": .integer(.max),
            ])
        #expect(Question(CompletenessQuery.completeness(user: nil, nights: [:])).members["user"] == .null)
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        let known: [any Query.Type] = [SliceRequest.self, TimelineQuery.self]
        for (request, why): (Value, String) in [
            (["query": "slice", "user": "me"], "a 'slice' request needs 'types'"),
            (["query": "nonsense"], "unknown query 'nonsense'; this instance answers slice, timeline"),
            (["query": "timeline", "user": 7], "a 'timeline' request needs 'user'"),
        ] {
            let refusal = #expect(throws: PullRefusal.self) { try Question(members: request, among: known) }
            #expect(refusal?.reason == why)
        }
        let days = try Value(["days": [4, 3]]).decode(ChangesQuery.self)
        #expect(throws: PullRefusal.self) { try days.range() }
    }

    /// A position that can't be read is ignored: the consumer is treated as new, and questions that need a window are
    /// refused.
    @Test func aPlaceThatCannotBeReadIsNone() throws {
        let place = try Question(
            members: ["query": "zones", "after": "x", "store": 3], among: [ZonesQuery.self]
        ).place
        #expect(place.after == nil && place.store == nil)
    }
}
