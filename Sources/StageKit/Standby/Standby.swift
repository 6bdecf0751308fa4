import CPosix
import Client
import Clocks
import Configuration
import Dispatch
import Foundation
import Glibc
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// A process that stands by to take an instance's place. It gets ready and reports that it is, but takes no lock until
/// it is asked to (by SIGUSR1).
final class Standby: Sendable {
    private final class Said: Sendable {
        let word: Mutex<StandbyWord>
        /// Signalled once the hub has sent back this process's report that it can't take over.
        let isLastHeard = DispatchSemaphore(value: 0)
        init(_ word: StandbyWord) { self.word = Mutex(word) }

        func hear(_ message: Message) {
            if let heard = StandbyWord(message), heard.phase == .failed, heard == word.withLock({ $0 }) {
                isLastHeard.signal()
            }
        }
    }

    private let said: Said
    let client: StackClient

    /// Blocks the signal in this thread and the threads that it starts, so that it stays pending until `wait` takes it.
    static func blockSignal() {
        var signals = Self.signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private static var signals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        return signals
    }

    init(_ context: PluginContext, swap: String) throws {
        let said = Said(
            StandbyWord(
                instance: context.name, swap: swap, plugin: context.instance.manifest.name,
                pid: Int(ProcessInfo.processInfo.processIdentifier), phase: .checking))
        self.said = said
        client = try StackClient(
            address: context.address, beat: { said.word.withLock { $0 }.message(at: WallClock.now) }, pace: { .lively },
            hears: ([.exact(StandbyWord.prefix + context.name)], { said.hear($0) }))
        // This ensures that no later message is lost because the connection isn't ready.
        client.settle()
    }

    private func say(_ change: (inout StandbyWord) -> Void) {
        said.word.withLock { change(&$0) }
        client.beat()
    }

    /// Makes the process's parts and tests them; reports why if that fails.
    func prepare<Prepared>(_ body: () throws -> (Prepared, TrialReport?)) throws -> Prepared {
        do {
            let (prepared, trial) = try body()
            say {
                $0.phase = .waiting
                $0.trial = trial
            }
            return prepared
        } catch {
            say {
                $0.phase = .failed
                $0.why = "\(error)"
            }
            // Otherwise the process waiting for this one would learn that it has ended, but not why.
            for _ in 0..<10 {
                if said.isLastHeard.wait(timeout: .now() + 0.1) == .success { break }
                client.beat()
            }
            client.close()
            throw error
        }
    }

    /// Blocks the calling thread until this process is asked to take over.
    func wait() {
        var signals = Self.signals
        var step = timespec(tv_sec: 0, tv_nsec: 100_000_000)
        // This process's messages may be lost, but others are waiting for them, so they are repeated until they arrive.
        while sigtimedwait(&signals, nil, &step) != SIGUSR1 { client.beat() }
    }
}
