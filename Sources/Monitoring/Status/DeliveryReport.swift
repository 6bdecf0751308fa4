import Client
import Configuration
import Foundation
import Inspection
import Protocol
import Terminal

/// What has been delivered so far, and where.
package struct DeliveryReport {
    private let delivered: [(place: String, counts: [String: Int64])]

    package init(_ stack: Stack) throws {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let beats = client.gather(stack.destinations.map(\.name), within: 2)
        delivered = stack.destinations.map { destination in
            let reported = beats[destination.name]?.beat.uploader
            return (stack.place(of: destination, reported: reported?.address), reported?.delivered ?? [:])
        }
    }

    /// One line per destination, by metric: "steps 41 210, heart-rate 28 112, …". Elements are counted as sent, so
    /// those that changed and were sent again count again.
    package var text: String {
        delivered.map { place, counts in
            let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \(HumanFormat.count(Int($0.value)))" }
            return "Delivered to \(place), counting changed elements each time:\n  "
                + (parts.isEmpty ? "nothing yet" : parts.joined(separator: ", "))
        }.joined(separator: "\n")
    }
}
