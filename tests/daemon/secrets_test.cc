// Which variables are shown as they are.
#include "daemon/secrets.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Secrets, AreMasked) {
  for (const char* variable :
       {"WANDB_API_KEY=abc", "HF_TOKEN=hf_x", "hf_token=x", "Db_Password=x", "PASSPHRASE=x",
        "AWS_SECRET_ACCESS_KEY=x", "GOOGLE_APPLICATION_CREDENTIALS=/k.json", "PROXY_AUTH=x",
        "SESSION_COOKIE=x", "MY_PRIVATE=x", "MYSQL_PWD=x", "CLIENT_CERT=x",
        "SSH_KEY==", "TOKEN= "}) {
    const std::string text(variable);
    EXPECT_EQ(mask_secret(text), text.substr(0, text.find('=') + 1) + "********");
  }
}

TEST(Secrets, AreMaskedWithinAddresses) {
  for (const char* value :
       {"postgres://ann:pw@host/db", "a http://u:p@proxy:3128", "https://ghp_x@github.com/a",
        "redis://:pw@host", "ftp://a.b/ ftp://u:p@c.d/", "HTTPS://U@H", "http://a@b@c/"}) {
    EXPECT_EQ(mask_secret(std::string("DATABASE=") + value), "DATABASE=********") << value;
  }
}

TEST(Secrets, OthersStayAsTheyAre) {
  for (const char* variable :
       {"PATH=/usr/bin:/bin", "HOME=/home/ann", "PWD=/tmp", "OLDPWD=/", "CUDA_VISIBLE_DEVICES=0",
        "URL=https://host/a@b", "URL=https://host:80/?to=a@b", "GIT=ssh://git@host/x", "EMPTY=",
        "API_KEY=", "TOKEN", "", "MAIL=ann@example.org", "LANG=C.UTF-8", "=x", "NAME=a=b=c"}) {
    EXPECT_EQ(mask_secret(variable), variable);
  }
  EXPECT_EQ(mask_secrets({"A=1", "KEY=2"}), (std::vector<std::string>{"A=1", "KEY=********"}));
}

}  // namespace
}  // namespace berth
