import CZeroMQ

/// What failed on the bus, and at which endpoint.
package struct BusError: Error, CustomStringConvertible {
    package let operation: String
    package let endpoint: String
    package let code: Int32

    package init(operation: String, endpoint: String, code: Int32) {
        (self.operation, self.endpoint, self.code) = (operation, endpoint, code)
    }

    /// Uses the thread's last ZeroMQ error: call it right after the failing call.
    package static func last(_ operation: String, _ endpoint: String = "") -> BusError {
        BusError(operation: operation, endpoint: endpoint, code: zmq_errno())
    }

    private var hint: String {
        switch code {
        case 98: "; another stack is using it: stop that one, or give this one another state folder"
        case 13: "; check who owns the folder and that you may write to it"
        case 36: "; the path is longer than the 107 bytes of a Unix socket: choose a shorter state folder"
        default: ""
        }
    }

    package var description: String {
        let place = endpoint.isEmpty ? "" : " \(endpoint)"
        return "bus: can't \(operation)\(place): \(String(cString: zmq_strerror(code)))\(hint)"
    }
}
