import BackgroundDelivery
import HealthModel
import Testing

@Suite struct DeviceStateTests {
    @Test func nothingHoldsAnythingBackUnlessSomebodySaysSo() {
        let state = DeviceState()
        #expect(state.app == .active && !state.isLocked && !state.isDeferring && state.network == nil)
        #expect(state.isCharging && state.batteryLevel == 1 && !state.isLowPowerMode && !state.isSleepMode)
    }

    @Test func takesOverWhatAMessageNames() throws {
        let state = try #require(DeviceState().updated(from: ["app": "background", "locked": true]))
        #expect(state.app == .background && state.isLocked && state.isCharging)
        let moved = try #require(state.updated(from: ["network": ["satisfied": false, "interface": .null]]))
        #expect(moved.network == NetworkPath(isSatisfied: false, interface: nil) && moved.isLocked)
        #expect(DeviceState().updated(from: Value(moved)) == moved)
    }

    @Test(
        arguments: [
            ["app": "asleep"], ["locked": "yes"], ["battery": 1.5], ["batery": 1], ["network": ["interface": "wifi"]],
        ] as [Value])
    func refusesWhatItDoesNotKnow(_ message: Value) {
        #expect(DeviceState().updated(from: message) == nil)
    }

    @Test func aRequestFasterThanTheFloorIsClamped() {
        #expect(DeliveryFrequency.immediate.clamped(to: .hourly) == .hourly)
        #expect(DeliveryFrequency.daily.clamped(to: .hourly) == .daily)
        #expect(DeliveryFrequency(name: "weekly")?.period == .seconds(604_800))
        #expect(DeliveryFrequency(name: "always") == nil)
        #expect(DeliveryFrequency.allCases.map(\.rawValue) == [1, 2, 3, 4])
    }
}
