import HTTP
import HealthModel
import IngestStage
import Testing

struct TakenAsSumsTests {
    /// The app doesn't say whether an entry is a sample; so the answer says what it was taken for, and why.
    @Test func whatWasTakenAsASumIsAnswered() throws {
        let rig = try IngestRig()
        func post(_ entries: String) throws -> Value {
            let metric = #"{"name": "step_count", "units": "count", "data": [\#(entries)]}"#
            let answer = try rig.send(
                "POST", "/v1/health-auto-export", body: #"{"data": {"metrics": [\#(metric)]}}"#)
            return try Value(json: answer.body)
        }
        let sums = try post(
            #"{"qty": 5, "date": "2025-03-26 10:00:00 +0100"}, {"qty": 7, "date": "2025-03-26 11:00:00 +0100"}"#)
        #expect(sums.words == ["added", "added"])
        #expect(
            sums["statistics"] == [
                [
                    "type": "HKQuantityTypeIdentifierStepCount", "count": 2,
                    "reason": "all of the metric's dates are on whole hours",
                ]
            ])
        let sample = try post(
            #"{"qty": 5, "start": "2025-03-26 12:00:00 +0100", "end": "2025-03-26 12:05:00 +0100"}"#)
        #expect(sample.words == ["added"] && sample["statistics"].isNull)
    }
}
