import HealthModel
import Protocol
import TestSupport
import Testing

/// What a hint says about a row that changed.
@Suite struct HintedChangeTests {
    private func change(_ topic: String, _ old: Value?, _ new: Value?) -> HintedChange {
        HintedChange(topic: topic, user: "me", day: 3, from: old, to: new)
    }

    @Test func figuresThatChangedAreNamedWithoutValues() {
        let old: Value = ["figures": ["a": 1, "b": 2, "c": 3], "hourly": ["d": [1, 2]]]
        let new: Value = ["figures": ["a": 1, "b": 5, "e": 3], "hourly": ["d": [1, 3]]]
        let reported = change("figures.steps", old, new)
        #expect(reported.names == ["b", "c", "d", "e"] && reported.more == nil && reported.final == nil)
        #expect(reported.user == "me" && reported.day == 3)
        #expect(change("figures.steps", nil, new).names == ["a", "b", "d", "e"])
        #expect(change("figures.steps", old, nil).names == ["a", "b", "c", "d"])
    }

    /// A figure may be called like a member of the summary.
    @Test func aHandlersFigureMayHaveAnyName() {
        #expect(
            change("figures.x", nil, ["figures": ["user": 1, "kind": 2], "hourly": [:]]).names == ["kind", "user"])
    }

    @Test func ofASummaryItIsSaidWhetherItIsFinalAndWhatItWaitsFor() {
        func summary(_ steps: Int64, _ final: Bool, _ missing: [Value] = []) -> Value {
            [
                "user": "me", "date": "1970-01-04", "zone": "UTC", "final": .bool(final), "revision": 0,
                "missing": .array(missing), "steps": .integer(steps),
            ]
        }
        let waits = change("daily.summary", nil, summary(1, false, ["sleep"]))
        #expect(waits.names == ["steps"] && waits.final == false && waits.missing == ["sleep"])
        let done = change("daily.summary", summary(1, false, ["sleep"]), summary(1, true))
        #expect(done.names == [] && done.final == true && done.missing == nil)
    }

    @Test func ofAnEventItsKindIsNamed() {
        let event: Value = ["id": "1", "kind": "place", "event": ["place": "Home"]]
        for reported in [change("events.places", nil, event), change("events.places", event, nil)] {
            #expect(reported.names == ["place"] && !Value(reported).json().contains("Home"))
        }
    }

    @Test func manyOrLongNamesAreCounted() {
        var figures = Dictionary(uniqueKeysWithValues: (0..<100).map { ("figure\(100 + $0)", Value.integer(1)) })
        figures[String(repeating: "a", count: 1000)] = 1
        let reported = change("figures.x", nil, ["figures": .object(figures), "hourly": [:]])
        #expect(reported.names.count == 24 && reported.more == 77 && reported.names.first == "figure100")
    }

    @Test func aHintOfAnEarlierReleaseIsRead() {
        let head: Value = ["store": "s", "generation": "g", "sequence": 7]
        let hint = (["head": head] as Value).read(Hint.self)
        #expect(hint?.head.sequence == 7 && hint?.after == nil && hint?.changed == nil)
    }
}
