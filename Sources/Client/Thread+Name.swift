import Foundation

extension Thread {
    /// Starts a thread with this name, by which people find it in a debugger.
    package static func begin(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}
