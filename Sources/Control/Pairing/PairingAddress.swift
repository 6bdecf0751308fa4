import Configuration
import Foundation
import Logging

/// The address to which a phone sends its data, and what a person who pairs it should know about the address.
package struct PairingAddress: Sendable, Equatable {
    /// `http://` or `https://`, the host, possibly a port (always for the stack's own address), and possibly a path
    /// prefix; no trailing slash.
    package var url: String
    /// False if only this machine can reach it.
    package var isReachable: Bool
    /// The URLs of the same machine at its other addresses.
    package var others: [String]
    /// Whether the stack itself speaks TLS, and the address wasn't given by a person.
    private var needsName = false

    /// An address given by a person: where a proxy listens, or the name under which a phone finds this machine.
    /// - Throws: `Failure` (usage) for anything that isn't an address.
    package init(_ text: String) throws(Failure) {
        func refuse(_ why: String) -> Failure {
            .usage("--address \(why)", hint: "write it as https://health.example.org, with a port if it has one")
        }
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw refuse("isn't the address of a server")
        }
        guard ["http", "https"].contains(parts.scheme?.lowercased()) else {
            throw refuse("begins with neither https:// nor http://")
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw refuse("has a user, a query or a fragment")
        }
        url = text
        while url.hasSuffix("/") { url.removeLast() }
        let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        isReachable = !Endpoint(host: bare, port: 0).isLoopback
        others = []
    }

    /// Where the stack itself listens.
    /// - Parameters:
    ///   - isTLS: whether the stack has its own certificate.
    ///   - machine: this machine's addresses, the likeliest first.
    package init(_ endpoint: Endpoint, isTLS: Bool = false, machine: [String]) {
        needsName = isTLS
        func address(_ host: String) -> String {
            Endpoint(host: host, port: endpoint.port).url(isTLS: isTLS)
        }
        guard endpoint.isEverywhere else {
            (url, isReachable, others) = (address(endpoint.host), !endpoint.isLoopback, [])
            return
        }
        (url, isReachable) = (address(machine.first ?? Endpoint.loopback), !machine.isEmpty)
        others = machine.dropFirst().map(address)
    }

    /// Where the stack itself listens.
    package static func standing(at endpoint: Endpoint, isTLS: Bool) -> PairingAddress {
        PairingAddress(endpoint, isTLS: isTLS, machine: endpoint.isEverywhere ? MachineAddresses.current() : [])
    }

    /// Remarks for somebody who pairs a phone with this address.
    package var remarks: [String] {
        var remarks: [String] = []
        if !isReachable {
            remarks.append(
                "only this machine can reach \(url), no phone can. Put a TLS proxy in front of it, and pair with "
                    + "--address https://its.name; or set the option \"host\" of the instance 'ingest' to \"0.0.0.0\" "
                    + "in the configuration, with a certificate or, in a network you trust, \"plainHTTP\". "
                    + "docs/ways-in.md shows how")
        } else if url.lowercased().hasPrefix("http://") {
            remarks.append(
                "\(url) isn't encrypted: anyone listening in on the network can read the token and the data. "
                    + "Use it only where you trust everybody; else put a TLS proxy in front of it (docs/ways-in.md)")
        }
        if isReachable, needsName {
            remarks.append(
                "a phone takes \(url) only if the stack's certificate is for that name: otherwise pair with "
                    + "--address https://its.name, and the port if it isn't 443")
        }
        if !others.isEmpty { remarks.append("this machine is also \(others.joined(separator: " and "))") }
        return remarks
    }
}
