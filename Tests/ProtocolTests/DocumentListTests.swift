import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct DocumentListTests {
    private func lists(_ topic: String, kind: String?) -> [DocumentList] {
        let body = kind.map { Value(EventBody(id: "1", kind: $0, event: [:])) }
        return ChangedRow(sequence: 1, key: "event/me/1", topic: topic, user: "me", day: 1, body: body).lists
    }

    @Test func anEventGoesByItsKindWhoeverGivesIt() {
        #expect(lists("events.sleep", kind: "night") == [.nights])
        #expect(lists("events.workouts", kind: "workout") == [.workouts])
        #expect(lists("events.siesta", kind: "night") == [.nights])
        #expect(lists("events.siesta", kind: "workout") == [.workouts])
        #expect(lists("events.siesta", kind: "siesta").isEmpty)
    }

    @Test func aTombstoneGoesWhereverItMayHaveBeen() {
        #expect(lists("events.sleep", kind: nil) == [.nights])
        #expect(lists("events.workouts", kind: nil) == [.workouts])
        #expect(lists("events.siesta", kind: nil) == [.nights, .workouts])
        #expect(lists("events.places", kind: nil).isEmpty && lists("events.places", kind: "place").isEmpty)
    }

    /// A tombstone's topic leads to the list that the event was in, whatever the instance is called.
    @Test func anEventsTopicLeadsToItsList() {
        #expect(ChangedRow.topic(ofEvent: "night", instance: "sleep") == "events.sleep")
        #expect(ChangedRow.topic(ofEvent: "place", instance: "places") == "events.places")
        #expect(ChangedRow.topic(ofEvent: "night", instance: "siesta") == "events.siesta")
        for instance in ["sleep", "workouts", "places", "siesta"] {
            for (kind, list) in [("night", DocumentList.nights), ("workout", .workouts)] {
                let topic = ChangedRow.topic(ofEvent: kind, instance: instance)
                #expect(topic.hasPrefix("events.\(instance)"))
                #expect(lists(topic, kind: nil).contains(list), "\(kind) of \(instance)")
            }
        }
    }

    @Test func summariesAreDays() {
        let row = ChangedRow(
            sequence: 1, key: "day/me/2025-03-10", topic: "daily.summary", user: "me", day: 1, body: ["kind": "night"])
        #expect(row.lists == [.days])
    }
}
