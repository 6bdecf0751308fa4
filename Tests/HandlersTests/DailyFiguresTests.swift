import BodyStage
import EnergyStage
import GenericStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import Testing
import WorkoutsStage

/// What holds for each handler.
@Suite struct DailyFiguresTests {
    @Test func withoutSamplesThereAreNoFigures() throws {
        let handlers: [any DayHandler] = [
            StepsHandler(), HeartRateHandler(), SleepHandler(), EnergyHandler(), WorkoutsHandler(), BodyHandler(),
            GenericHandler(),
        ]
        for handler in handlers { #expect(try DayBuilder().compute(handler) == DayOutput()) }
    }
}
