import HealthModel
import Testing

@Suite struct SourceTests {
    @Test func deviceLosesItsAddress() {
        let text =
            "<<HKDevice: 0x283d0a1b0>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:9.0>"
        let stripped = "name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:9.0"
        #expect(DeviceText.stripped(text) == stripped)
        #expect(DeviceText.stripped(text.replacing("0x283d0a1b0", with: "0x1")) == stripped)
        #expect(DeviceText.stripped(stripped) == stripped)
        #expect(DeviceText.stripped("") == "")
        #expect(DeviceText.stripped("<<HKDevice: 0x1") == "<<HKDevice: 0x1")
    }

    @Test(arguments: [
        (Origin(sourceName: "x", device: "name:Apple Watch, model:Watch"), false, 1),
        (Origin(sourceName: "x", device: "name:a, hardware:iPhone14,2"), false, 2),
        (Origin(sourceName: "Anna’s Apple Watch", device: "name:Scale, model:BodyScale"), false, 3),
        (Origin(sourceName: "x", productType: "Watch6,1"), false, 1),
        (Origin(sourceName: "x", productType: "iPod9,1"), false, 2),
        (Origin(sourceName: "Anna’s Apple\u{A0}Watch"), false, 1), (Origin(sourceName: "iPhone von Jörg"), false, 2),
        (Origin(sourceName: "WatchMate"), false, 3), (Origin(sourceName: "Health"), true, 0),
    ])
    func defaultOrder(origin: Origin, entered: Bool, rank: Int) {
        #expect(SourceRank.rank(origin: origin, userEntered: entered) == rank)
        #expect(SourceOrder().rank(origin: origin, userEntered: entered) == rank)
    }

    @Test func ownOrderComesFirst() {
        let order = SourceOrder(["Scale", "My iPhone", "Scale"])
        let ranks = ["Health", "Scale", "My iPhone", "My Watch", "Other"].map {
            order.rank(origin: Origin(sourceName: $0), userEntered: $0 == "Health")
        }
        #expect(ranks == ranks.sorted() && Set(ranks).count == ranks.count)
    }

    @Test func aRenamedSourceKeepsItsPlace() {
        let order = SourceOrder(["Scale", "Old"])
        var renamed = Origin(sourceName: "New")
        #expect(order.rank(origin: renamed, userEntered: false) > 2)
        renamed.otherNames = ["Older", "Old"]
        #expect(order.rank(origin: renamed, userEntered: false) == 2)
        // The name that it has now comes first.
        renamed.otherNames.append("Scale")
        renamed.sourceName = "Old"
        #expect(order.rank(origin: renamed, userEntered: false) == 2)
    }

    @Test func activitiesKeepWhatIsUnknown() {
        #expect(WorkoutActivity(named: "HKWorkoutActivityTypeRunning") == WorkoutActivity(raw: 37))
        #expect(WorkoutActivity(named: "running").raw == 37)
        #expect(WorkoutActivity(raw: 37).identifier == "HKWorkoutActivityTypeRunning")
        for (raw, name) in [
            (52, "walking"), (57, "yoga"), (80, "cooldown"), (84, "underwaterDiving"), (3000, "other"),
            (4, "badminton"),
        ] {
            #expect(WorkoutActivity(raw: raw).name == name)
            #expect(WorkoutActivity(named: name).raw == raw)
        }
        #expect(WorkoutActivity(raw: 81).name == "other")
        #expect(WorkoutActivity(raw: 81).raw == 81)
        for (text, name) in [
            ("Running", "running"), ("TraditionalStrengthTraining", "traditionalStrengthTraining"),
            ("Traditional Strength Training", "traditionalStrengthTraining"), ("Outdoor Run", "running"),
            ("IndoorCycling", "cycling"), ("Open Water Swim", "swimming"), ("HIIT", "highIntensityIntervalTraining"),
            ("traditional_strength_training", "traditionalStrengthTraining"), ("WATER POLO", "waterPolo"),
        ] { #expect(WorkoutActivity(named: text).name == name) }
        for text in ["", "Outdoor", "Pool", "Outdoor Ausführen"] {
            #expect(WorkoutActivity(named: text).raw == nil && WorkoutActivity(named: text).identifier == text)
        }
        let future = WorkoutActivity(named: "HKWorkoutActivityTypeMoonWalking")
        #expect(future.name == "other" && future.raw == nil && future.identifier == "HKWorkoutActivityTypeMoonWalking")
        #expect(WorkoutActivity(named: "HKWorkoutActivityType85") == WorkoutActivity(raw: 85))
        #expect(WorkoutActivity(named: "85").name == "other" && WorkoutActivity(named: "85").raw == 85)
    }
}
