import Foundation
import Glibc
import Synchronization

/// The variables of a stack's last start that a command takes over because they aren't set in its own environment.
/// Without them, the command would look for the stack's servers and folders in the wrong place, even at another stack.
package enum RememberedVariables {
    private static let taken = Mutex<[String: String]>([:])

    /// Those taken over, with their values.
    package static var inForce: [String: String] { taken.withLock { $0 } }

    /// Sets them in this process's environment, which everything else reads, and which its child processes inherit. Must
    /// be called before there are other threads, since they may be reading the environment.
    package static func take(from layer: StackLayer) {
        // If the file can't be read, the command itself reports that.
        guard let last = try? layer.startOptions() else { return }
        let remembered = last.remembered(besides: ProcessInfo.processInfo.environment)
        for (name, value) in remembered { setenv(name, value, 1) }
        taken.withLock { $0 = remembered }
    }
}
