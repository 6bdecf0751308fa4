import Glibc

/// A server's identity: its certificate, the certificates that vouch for it, and the key, in PEM form.
package struct TLSIdentity: Sendable, Equatable {
    /// The server's certificate first, then the issuer of each, up to but excluding the authority's own.
    package let certificates: [UInt8]
    /// Without a passphrase.
    package let key: [UInt8]

    package init(certificates: [UInt8], key: [UInt8]) { (self.certificates, self.key) = (certificates, key) }

    /// Reads both files. Whether they match is checked when a server uses them.
    /// - Throws: `HTTPError` that names the file: it can't be read, isn't PEM, or is a key that others can read.
    package init(certificateFile: String, keyFile: String) throws(HTTPError) {
        certificates = try Self.read(certificateFile, isKey: false)
        key = try Self.read(keyFile, isKey: true)
    }

    /// Far more than a chain of certificates needs, which is a few kilobytes.
    private static let largest = 1 << 20

    private static func read(_ path: String, isKey: Bool) throws(HTTPError) -> [UInt8] {
        func refuse(_ detail: String, _ hint: String) -> HTTPError {
            HTTPError(.tls, endpoint: path, detail: detail, hint: hint)
        }
        // Opened non-blocking, because opening a pipe would otherwise block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw refuse(
                "it can't be opened: \(String(cString: strerror(errno)))",
                "give the path of a PEM file that this account may read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw refuse("it isn't a file", "give the path of a PEM file")
        }
        // Group access may be intended, as with Debian's ssl-cert.
        if isKey, status.st_mode & 0o027 != 0 {
            throw refuse("others may read this key, or change it", "make it private: chmod 600 '\(path)'")
        }
        guard status.st_size <= largest else {
            throw refuse("it is larger than \(largest) bytes", "give the path of a PEM file")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else {
                throw refuse("it can't be read: \(String(cString: strerror(errno)))", "check the disk")
            }
            if more == 0 { break }
            count += more
        }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        guard text.contains(isKey ? "PRIVATE KEY-----" : "-----BEGIN CERTIFICATE-----") else {
            throw refuse(
                "it contains no PEM \(isKey ? "private key" : "certificate")",
                "give a PEM file (its text begins with -----BEGIN …)")
        }
        return Array(bytes[..<count])
    }
}
