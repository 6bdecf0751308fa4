import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

@Suite struct ContinuedTaskTests {
    private func scheduler() throws -> TaskScheduler {
        var scheduler = TaskScheduler(permitted: ["one"], backgroundModes: [], launcher: .device)
        try scheduler.register("one", .continued)
        return scheduler
    }

    private func conditions(hasNetwork: Bool) -> TaskConditions {
        var conditions = TaskConditions(now: Instant(seconds: 1_743_069_600), monotonic: 0, device: DeviceState())
        conditions.hasNetwork = hasNetwork
        return conditions
    }

    private func refusal(_ body: () throws -> Void) -> DeliveryError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DeliveryError)?.code
        }
    }

    /// It waits for what it needs, or fails at once.
    @Test func aContinuedTaskWaitsForItsResourcesOrFails() throws {
        var scheduler = try scheduler()
        let (offline, online) = (conditions(hasNetwork: false), conditions(hasNetwork: true))
        let failing = TaskRequest("one", strategy: .fail, resources: [.network])
        #expect(refusal { try scheduler.submit(failing, offline) } == .immediateRunIneligible)
        #expect(!scheduler.isPending("one"))
        try scheduler.submit(TaskRequest("one", resources: [.network]), offline)
        #expect(scheduler.beginDue(offline) == [] && scheduler.obstacle("one", offline) == .noNetwork)
        // What it needs survives a restart.
        let kept = try #require(Value(scheduler.rows["one"]).read(KeptTask.self))
        var again = try self.scheduler()
        again.restore(["one": kept])
        #expect(again.beginDue(offline) == [])
        #expect(again.beginDue(online) == ["one"])
        // Without such a need it begins offline, with either strategy.
        var other = try self.scheduler()
        try other.submit(TaskRequest("one", strategy: .fail), offline)
        #expect(other.beginDue(offline) == ["one"])
    }

    /// The release before stored no resources.
    @Test func aStoredRequestWithoutResourcesIsRead() throws {
        let row: Value = [
            "pending": [
                "earliestBegin": .null, "network": false, "power": false, "title": "a", "subtitle": "b",
                "strategy": "queue",
            ],
            "submitted": 5,
        ]
        let kept = try #require(row.read(KeptTask.self))
        var scheduler = try scheduler()
        scheduler.restore(["one": kept])
        #expect(scheduler.request("one")?.title == "a")
    }
}
