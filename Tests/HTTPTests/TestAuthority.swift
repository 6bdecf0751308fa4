import Foundation
import HTTP
import TestSupport
import Testing

/// A certificate authority of the test's own, made with the openssl command, and the certificates that it signs for
/// 127.0.0.1.
final class TestAuthority {
    let folder: TemporaryFolder
    /// The authority's certificate, in a PEM file for clients.
    var certificate: String { folder.path + "/ca.pem" }

    init() throws {
        folder = try TemporaryFolder()
        try Self.openssl(
            folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=healthbus test authority", "-keyout", "ca.key", "-out", "ca.pem")
    }

    /// Makes a certificate and its key as two files in the authority's folder.
    func sign(_ name: String) throws -> (certificateFile: String, keyFile: String) {
        _ = try folder.file("\(name).ext", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        try Self.openssl(
            folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=\(name)",
            "-keyout", "\(name).key", "-out", "\(name).csr")
        try Self.openssl(
            folder, "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "1", "-extfile", "\(name).ext", "-out", "\(name).pem")
        return (folder.path + "/\(name).pem", folder.path + "/\(name).key")
    }

    func identity(_ name: String) throws -> TLSIdentity {
        let files = try sign(name)
        return try TLSIdentity(certificateFile: files.certificateFile, keyFile: files.keyFile)
    }

    private static func openssl(_ folder: TemporaryFolder, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    }
}
