import BackgroundDelivery
import Foundation
import HealthModel
import StageKit
import Synchronization
import TestSupport
import Testing

@Suite(.inTurn) struct MachineWatcherTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try write("loadavg", "1.00 0.50 0.25 1/200 4711\n")
    }

    private func write(_ file: String, _ text: String) throws {
        let path = URL(filePath: folder.path + "/" + file)
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: path, atomically: true, encoding: .utf8)
    }

    private func supply(_ name: String, _ members: [String: String]) throws {
        for (member, text) in members { try write("power/\(name)/\(member)", text + "\n") }
    }

    private func read(cores: Int = 4) -> MachineState {
        MachineWatcher.read(power: folder.path + "/power", load: folder.path + "/loadavg", cores: cores)
    }

    @Test func aMachineWithoutABatteryHasNone() throws {
        try supply("AC", ["type": "Mains", "online": "0"])
        try supply("mouse", ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "5"])
        let state = read()
        #expect(state == MachineState(load: 0.25) && !state.isLowOnBattery && !state.isBusy)
    }

    @Test(arguments: [
        ("Discharging", "20", true, false), ("Discharging", "21", false, false), ("Charging", "5", false, true),
        ("Full", "100", false, true), ("Discharging", "?", false, false),
    ])
    func aLaptopSaysWhetherItChargesAndHowMuchIsLeft(
        _ status: String, _ capacity: String, _ isLow: Bool, _ isCharging: Bool
    ) throws {
        try supply("BAT0", ["type": "Battery", "status": status, "capacity": capacity])
        #expect(read().isLowOnBattery == isLow && read().isCharging == isCharging)
    }

    @Test func theEmptierOfTwoBatteriesCounts() throws {
        try supply("BAT0", ["type": "Battery", "status": "Not charging", "capacity": "80"])
        try supply("BAT1", ["type": "Battery", "status": "Discharging", "capacity": "10"])
        #expect(read() == MachineState(isCharging: false, batteryLevel: 0.1, load: 0.25))
    }

    @Test func loadIsByCore() throws {
        #expect(!read(cores: 1).isBusy)
        try write("loadavg", "2.10 0 0 1/200 1\n")
        #expect(read(cores: 2).isBusy && !read(cores: 4).isBusy)
        try write("loadavg", "")
        #expect(read().load == nil && !read().isBusy)
    }

    @Test func itReportsAtOnce() throws {
        let reported = Mutex<[MachineState]>([])
        let watcher = MachineWatcher(power: folder.path + "/power", load: folder.path + "/loadavg")
        watcher.perform(Effect(id: 7, request: WatchMachine())) { result in
            reported.withLock { $0.append(result.value as? MachineState ?? MachineState()) }
            return true
        }
        #expect(eventually { reported.withLock { $0.first?.load != nil } })
        watcher.stop()
    }
}
