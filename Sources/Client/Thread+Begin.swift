import Foundation

extension Thread {
    /// Starts a thread.
    /// - Parameter stackSize: in bytes; nil for the usual size.
    package static func begin(_ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}
