import HomeAssistantStage
import Testing

@Suite struct RetainedLookTests {
    private let begin = ContinuousClock.now

    @Test func itIsOverAfterAMomentWithoutNews() {
        var look = RetainedLook(filters: 2, at: begin)
        look.answered(at: begin)
        #expect(!look.isOver(at: begin + .seconds(5)))
        look.answered(at: begin + .seconds(5))
        look.heard(at: begin + .milliseconds(5900))
        #expect(!look.isOver(at: begin + .milliseconds(6800)))
        #expect(look.milliseconds(at: begin + .milliseconds(6800)) == 100)
        #expect(look.isOver(at: begin + .milliseconds(6900)))
        #expect(look.milliseconds(at: begin + .seconds(9)) == 0)
    }

    @Test func itEndsEvenIfTheBrokerDoesNotAnswer() {
        let look = RetainedLook(filters: 2, at: begin)
        #expect(!look.isOver(at: begin + .seconds(14)) && look.isOver(at: begin + .seconds(15)))
    }
}
