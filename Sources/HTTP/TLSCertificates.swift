import CGnuTLS
import Glibc
import Synchronization

/// The certificates that a server presents: the newest, and earlier ones that connections may still be using. All are
/// freed with the server.
final class TLSCertificates: Sendable {
    /// `@unchecked Sendable`: GnuTLS reads credentials from any thread, and nothing changes them once they exist.
    private final class Credentials: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer

        init(_ identity: TLSIdentity) throws(HTTPError) {
            var made: UnsafeMutableRawPointer?
            let code = identity.certificates.withUnsafeBufferPointer { chain in
                identity.key.withUnsafeBufferPointer { key in
                    healthbus_tls_make(chain.baseAddress, chain.count, key.baseAddress, key.count, &made)
                }
            }
            guard code == 0, let made else {
                throw HTTPError(
                    .tls, endpoint: "certificate", detail: String(cString: gnutls_strerror(code)),
                    hint: "give a chain of PEM certificates, the server's first, and its key without a passphrase")
            }
            handle = made
        }

        deinit { healthbus_tls_free(handle) }
    }

    private let shown: Mutex<[Credentials]>
    /// What libmicrohttpd is started with: NUL-terminated strings. They are kept because the library isn't documented
    /// to copy them.
    ///
    /// `nonisolated(unsafe)`: these are written before the object is shared, and freed when nothing refers to it any
    /// more.
    nonisolated(unsafe) let chain: UnsafePointer<CChar>
    nonisolated(unsafe) let key: UnsafePointer<CChar>

    init(_ identity: TLSIdentity) throws(HTTPError) {
        shown = Mutex([try Credentials(identity)])
        chain = Self.text(identity.certificates)
        key = Self.text(identity.key)
    }

    deinit {
        chain.deallocate()
        key.deallocate()
    }

    func renew(_ identity: TLSIdentity) throws(HTTPError) {
        let made = try Credentials(identity)
        shown.withLock { $0.append(made) }
    }

    /// Uses the newest certificate in a session whose handshake hasn't begun. If GnuTLS refuses, the session keeps the
    /// certificate that the server started with.
    func show(in session: UnsafeMutableRawPointer) {
        if let newest = shown.withLock({ $0.last }) { _ = healthbus_tls_use(session, newest.handle) }
    }

    private static func text(_ bytes: [UInt8]) -> UnsafePointer<CChar> {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
        text[bytes.count] = 0
        return UnsafePointer(text)
    }
}

extension TLSIdentity {
    /// When the server's own certificate expires, in seconds since 1970.
    /// - Throws: `HTTPError` when the certificate can't be read, or the key doesn't belong to it.
    package func ends() throws(HTTPError) -> Int64 {
        _ = try TLSCertificates(self)
        let end = certificates.withUnsafeBufferPointer { healthbus_tls_end($0.baseAddress, $0.count) }
        guard end >= 0 else {
            throw HTTPError(
                .tls, endpoint: "certificate", detail: String(cString: gnutls_strerror(Int32(clamping: end))),
                hint: "give a chain of PEM certificates, the server's first")
        }
        return end
    }
}
