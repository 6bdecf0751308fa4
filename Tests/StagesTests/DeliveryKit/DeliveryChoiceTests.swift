import Configuration
import DeliveryKit
import HealthModel
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
