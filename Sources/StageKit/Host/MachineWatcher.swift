import BackgroundDelivery
import Client
import Foundation
import MessageBus

/// Asks the host to watch the machine's power and load. The host answers with a `MachineState`, at once and whenever a
/// change would lead to a different decision.
package struct WatchMachine: Sendable { package init() {} }

/// Performs `WatchMachine`. The kernel doesn't announce changes to either, so both are polled from time to time.
package final class MachineWatcher: EffectRunner {
    /// Never receives anything: closing it ends a pause early.
    private let ending = Mailbox<Bool>(capacity: 1)
    private let power: String
    private let load: String
    /// Seconds.
    private static let pause = 20.0

    /// - Parameters:
    ///   - power: the folder where the kernel describes power supplies.
    ///   - load: the file with the kernel's load averages.
    package init(power: String = "/sys/class/power_supply", load: String = "/proc/loadavg") {
        (self.power, self.load) = (power, load)
    }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        guard effect.request is WatchMachine else { return }
        let (power, load, ending) = (power, load, ending)
        Thread.begin("machine", stackSize: 512 << 10) {
            var last: MachineState?
            while !ending.isClosed {
                let state = Self.read(power: power, load: load)
                if last.map({ state.differs(from: $0) }) ?? true {
                    last = state
                    guard reply(EffectResult(id: effect.id, value: state)) else { return }
                }
                _ = ending.take(limit: 1, timeout: Self.pause)
            }
        }
    }

    package func stop() { ending.close() }

    /// The current state; anything that can't be read counts as unknown.
    package static func read(
        power: String, load: String, cores: Int = ProcessInfo.processInfo.activeProcessorCount
    ) -> MachineState {
        var state = MachineState()
        for supply in (try? FileManager.default.contentsOfDirectory(atPath: power)) ?? [] {
            let place = "\(power)/\(supply)/"
            // The batteries of mice and keyboards can be distinguished by their scope.
            guard TextFile.text(place + "type") == "Battery", TextFile.text(place + "scope") != "Device" else {
                continue
            }
            state.isCharging = (state.isCharging ?? true) && TextFile.text(place + "status") != "Discharging"
            guard let percent = Double(TextFile.text(place + "capacity") ?? "") else { continue }
            state.batteryLevel = min(state.batteryLevel ?? 1, percent / 100)
        }
        let average = TextFile.text(load)?.split(separator: " ").first.flatMap { Double($0) }
        state.load = average.map { $0 / Double(max(1, cores)) }
        return state
    }
}
