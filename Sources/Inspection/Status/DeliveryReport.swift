import Client
import Configuration
import Foundation
import HealthModel
import Protocol
import Terminal

/// What has been delivered to the backend so far, and where that is.
package struct DeliveryReport {
    private let delivered: [String: Int64]
    private let url: String?

    package init(_ stack: Stack) throws {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let uploader = stack.configuration.only(.uploader)
        let beat = uploader.flatMap { client.gather([$0.name], within: 2)[$0.name]?.beat }
        delivered = beat?.uploader?.delivered ?? [:]
        url =
            try uploader?.configuration["url"].string
            ?? stack.configuration.only(.backend).map { try BackendAddress.url(of: $0) }
    }

    /// One line by metric: "steps 41 210, heart-rate 28 112, …". Elements as they were sent: what changed was sent again.
    package var text: String {
        let parts = delivered.sorted { $0.key < $1.key }.map { "\($0.key) \(HumanFormat.count(Int($0.value)))" }
        return "Delivered to \(url ?? "the backend"), what changed each time anew:\n  "
            + (parts.isEmpty ? "nothing yet" : parts.joined(separator: ", "))
    }
}
