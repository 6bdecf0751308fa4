import Configuration
import DeliveryKit
import HealthModel
import Inspection
import TestSupport
import Testing

/// What happens to elements that the anchor has already passed when the choice of what to deliver changes.
@Suite struct DeliveryChoiceTests {
    private let daily = DeliverySettings(choice: DeliveryChoice(["daily"]))
    private let steps = DeliverySettings(choice: DeliveryChoice(["steps"]))

    @Test func anotherChoiceDeliversAgain() throws {
        let uploader = try UploaderRig(lives: [steps, daily, daily])
        try uploader.add(1...3)
        try uploader.serve()
        #expect(uploader.delivered == 0)
        #expect(try uploader.frontier() == 3, "days aren't taken, and passed")

        try uploader.rig.restart()
        try uploader.add(1...3)
        try uploader.serve()
        #expect(uploader.delivered == 3)

        // If the choice is unchanged, there is nothing to do.
        try uploader.rig.restart()
        try uploader.add(1...3)
        #expect(uploader.uploads.isEmpty)
        #expect(try uploader.frontier() == 3)
    }

    /// Whatever the destination has under other names stays there; everything is delivered under the new ones.
    @Test func anotherFormDeliversAgain() throws {
        let (plain, other) = (DeliverySettings(), DeliverySettings(form: #"{"patients":{"me":"s|1"}}"#))
        let uploader = try UploaderRig(lives: [plain, other, other, plain])
        try uploader.add(1...3)
        try uploader.serve()
        for isChanged in [true, false, true] {
            try uploader.rig.restart()
            try uploader.add(1...3)
            #expect(uploader.uploads.isEmpty == !isChanged)
            try uploader.serve()
        }
        #expect(try uploader.frontier() == 3)
    }

    /// Files from earlier releases, which delivered everything, record no choice: that causes no second delivery.
    @Test func withoutAChoiceNothingIsRepeated() throws {
        let uploader = try UploaderRig(lives: [.init(), .init()])
        try uploader.add(1...3)
        try uploader.serve()
        #expect(uploader.delivered == 3)
        try uploader.rig.restart()
        try uploader.add(1...3)
        #expect(uploader.uploads.isEmpty)
    }
}

/// What `healthbus verify` doesn't miss at a destination, since it was never to be delivered there.
@Suite struct LeftOutTests {
    private let steps = "HKQuantityTypeIdentifierStepCount"
    private let heart = "HKQuantityTypeIdentifierHeartRate"

    private func leftOut(_ options: String, off: Set<String> = []) throws -> LeftOut {
        let folder = try TemporaryFolder()
        let file = try folder.file("stack.json", #"{"instances": {"uploader": {"configuration": \#(options)}}}"#)
        let catalog = try PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere")
        let stack = try StackConfiguration(path: file, catalog: catalog)
        return try LeftOut(of: #require(stack.instance("uploader")), in: stack, off: off)
    }

    @Test func whatIsntChosenIsLeftOut() throws {
        for name in ["steps", steps] {
            let one = try leftOut(#"{"types": ["\#(name)"]}"#)
            #expect(one.takes(type: steps) && !one.takes(type: heart))
            for metric in [UploadMetric.daily, .sleep, .workouts] {
                #expect(!one.takes(documentsOf: metric, day: nil))
            }
        }
        let nights = try leftOut(#"{"types": ["sleep"]}"#)
        #expect(nights.takes(documentsOf: .sleep, day: 20_000) && !nights.takes(documentsOf: .daily, day: 20_000))
        let all = try leftOut("{}", off: [heart])
        #expect(all.takes(type: steps) && !all.takes(type: heart) && all.takes(documentsOf: .daily, day: 20_000))
    }

    @Test func whatIsOlderIsLeftOut() throws {
        let since = try leftOut(#"{"deliverSince": "2025-03-30"}"#)
        let moment = Instant(seconds: 1_743_292_800)
        #expect(since.takes(sampleThatEnds: moment) && !since.takes(sampleThatEnds: moment - .seconds(1)))
        #expect(since.takes(documentsOf: .daily, day: 20_177) && !since.takes(documentsOf: .daily, day: 20_176))
    }
}
